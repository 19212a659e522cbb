//! The table of the benchmark: the same DDL and the same rows for every kind.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use queue_table::QueueTable;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgPool};

/// The table, for the declared kind.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "drain_rows")]
pub(crate) struct Rows {
    #[queue(id)]
    id: i64,
    #[queue(group)]
    kind: String,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<DateTime<Utc>>,
    #[queue(locked_until)]
    locked_until: Option<DateTime<Utc>>,
    #[queue(payload)]
    payload: Vec<u8>,
}

/// A message of about 60 bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) row: usize,
    /// Written by the inserts; a handler reads the number only.
    #[serde(skip_deserializing)]
    pub(crate) to: Cow<'static, str>,
    #[serde(skip_deserializing)]
    pub(crate) subject: Cow<'static, str>,
}

const CREATE: &[&str] = &[
    "DROP TABLE IF EXISTS drain_rows",
    "CREATE TABLE drain_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
     kind text NOT NULL, attempt integer NOT NULL DEFAULT 1, retry_after timestamptz, \
     locked_until timestamptz, payload bytea NOT NULL) WITH (fillfactor = 50)",
    "CREATE INDEX ON drain_rows (kind, coalesce(retry_after, '-infinity'), id)",
];

const FILL: &str = "INSERT INTO drain_rows (kind, payload) \
     SELECT 'bench', convert_to(format('{\"row\":%s,\"to\":\"somebody@example.org\",\"subject\":\"hello\"}', n), 'UTF8') \
     FROM generate_series(1, $1) AS n ORDER BY n";

pub(crate) async fn fill(pool: &PgPool, rows: usize) -> Result<(), crate::BoxError> {
    for statement in CREATE {
        sqlx::query(AssertSqlSafe(*statement)).execute(pool).await?;
    }
    sqlx::query(FILL).bind(i32::try_from(rows)?).execute(pool).await?;
    sqlx::query("VACUUM (ANALYZE) drain_rows").execute(pool).await?;
    sqlx::query("CHECKPOINT").execute(pool).await?;
    Ok(())
}

pub(crate) async fn left(pool: &PgPool) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT count(*) FROM drain_rows").fetch_one(pool).await
}

pub(crate) async fn commits(pool: &PgPool) -> sqlx::Result<i64> {
    let commits = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
    sqlx::query_scalar(commits).fetch_one(pool).await
}

pub(crate) async fn is_durable(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT current_setting('fsync') = 'on'").fetch_one(pool).await
}

pub(crate) async fn remove(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query("DROP TABLE drain_rows").execute(pool).await.map(drop)
}
