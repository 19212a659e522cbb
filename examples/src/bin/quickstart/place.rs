//! Where this run has its tables: away from everybody else's, and gone at its end.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::Result;

/// How long a server has to answer at first.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) enum Place {
    /// A SQLite file in a temporary folder.
    Folder { folder: TempDir, file: PathBuf },
    /// A schema of a PostgreSQL database, and a URL that leads every connection to it.
    Schema { server: Box<PgConnectOptions>, name: String, url: String },
}

impl Place {
    pub(crate) async fn make(database: Option<&str>) -> Result<Self> {
        match database {
            None => {
                let folder = tempfile::Builder::new().prefix("quickstart-").tempdir()?;
                let file = folder.path().join("quickstart.db");
                Ok(Self::Folder { folder, file })
            }
            Some(url) => Self::schema(url).await,
        }
    }

    async fn schema(url: &str) -> Result<Self> {
        // The URL is not repeated in errors: it may hold a password.
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err("`--database` takes the URL of a PostgreSQL database, like \
                        `postgres://user:password@localhost/mydb`; without it the quickstart runs \
                        on SQLite"
                .into());
        }
        let server: PgConnectOptions =
            url.parse().map_err(|error| format!("the URL of the database is wrong: {error}"))?;
        let name = new_name()?;
        run(&server, &format!("CREATE SCHEMA {name}")).await?;
        let joint = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{joint}options=-c%20search_path%3D{name}");
        Ok(Self::Schema { server: Box::new(server), name, url })
    }

    /// What [`Database::open`](crate::database::Database::open) takes, in this process or another.
    pub(crate) fn address(&self) -> &OsStr {
        match self {
            Self::Folder { file, .. } => file.as_os_str(),
            Self::Schema { url, .. } => OsStr::new(url),
        }
    }

    pub(crate) async fn remove(self) -> Result<()> {
        match self {
            Self::Folder { folder, .. } => Ok(folder.close()?),
            Self::Schema { server, name, .. } => {
                run(&server, &format!("DROP SCHEMA {name} CASCADE")).await
            }
        }
    }
}

/// A name that no other run has, not even one that was killed and left its schema behind.
fn new_name() -> Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(format!("quickstart_{}_{}", process::id(), now.as_micros()))
}

/// Runs a statement on a connection of its own. A pool would try for half a minute to reach a server
/// that is not there.
async fn run(server: &PgConnectOptions, sql: &str) -> Result<()> {
    let connected = timeout(PATIENCE, server.connect()).await;
    let connected = connected.map_err(|_| format!("no answer for {PATIENCE:?}").into());
    let connected: Result<PgConnection> = connected.and_then(|connected| Ok(connected?));
    let mut connection = connected.map_err(|error| {
        let (host, port) = (server.get_host(), server.get_port());
        format!("the PostgreSQL server at {host}:{port} cannot be reached: {error}")
    })?;
    // The name is one that this file made.
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
    Ok(connection.close().await?)
}
