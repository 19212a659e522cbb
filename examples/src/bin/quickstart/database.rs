//! One database or the other.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, SqlitePool};

use crate::Result;

/// SQLite has one writer at a time; a second connection is for whoever only reads.
const SQLITE_CONNECTIONS: u32 = 2;

/// The pool that the queue and the handlers share. A service has one kind of database, and then this
/// is simply its pool.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// Does the same with either pool. The SQL of this example means the same to both databases.
macro_rules! on {
    ($database:expr, $pool:ident => $work:expr) => {
        match $database {
            $crate::database::Database::Sqlite($pool) => $work,
            $crate::database::Database::Postgres($pool) => $work,
        }
    };
}
pub(crate) use on;

impl Database {
    /// Opens what a [`Place`](crate::place::Place) says: a URL, or the path of a file.
    pub(crate) async fn open(address: &OsStr) -> Result<Self> {
        match address.to_str().filter(|address| address.contains("://")) {
            Some(url) => Self::postgres(url).await,
            None => Self::sqlite(address.as_ref()).await,
        }
    }

    async fn postgres(url: &str) -> Result<Self> {
        let options: PgConnectOptions = url.parse()?;
        let pool = PgPoolOptions::new().max_connections(8).connect_with(options).await?;
        Ok(Self::Postgres(pool))
    }

    async fn sqlite(file: &Path) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            // Readers and the writer do not wait for each other, and a commit does not wait for the
            // disk: a killed process loses nothing by it, only a power cut could.
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(10));
        let pool =
            SqlitePoolOptions::new().max_connections(SQLITE_CONNECTIONS).connect_with(options);
        Ok(Self::Sqlite(pool.await?))
    }

    pub(crate) async fn close(self) {
        on!(self, pool => pool.close().await);
    }
}
