//! A test's SQLite file.

use std::str::FromStr;

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow};
use sqlx::{Pool, Row, SqlStr, Sqlite, TypeInfo, ValueRef};
use tempfile::TempDir;

use super::Db;
use crate::stands::{Kind, Stand};

impl Db for Sqlite {
    const KIND: Kind = Kind::Sqlite;
    const ID: &'static str = "INTEGER PRIMARY KEY";
    const TIME: &'static str = "TEXT";
    const BYTES: &'static str = "BLOB";
    const JSON: &'static str = "TEXT";
    const BEFORE_EVERY_TIME: &'static str = "''";

    type Place = TempDir;

    fn now_plus(seconds: i64) -> String {
        format!("strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '{seconds:+} seconds')")
    }

    async fn create(_: &Stand) -> (String, TempDir) {
        let folder = tempfile::Builder::new().prefix("queue-table-test-").tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.db").display());
        (url, folder)
    }

    async fn connect(url: &str) -> Pool<Self> {
        let options = SqliteConnectOptions::from_str(url)
            .unwrap()
            .create_if_missing(true)
            // Kept by the file, so that it holds for every later connection too: with a rollback
            // journal a reader and a writer shut each other out.
            .journal_mode(SqliteJournalMode::Wal);
        SqlitePoolOptions::new().max_connections(5).connect_with(options).await.unwrap()
    }

    /// SQLite cannot be asked for its open transactions; one that is left makes the next writer fail.
    async fn no_transaction_is_left(_: &Stand, _: &TempDir) {}

    async fn remove(_: &Stand, folder: TempDir) {
        folder.close().unwrap();
    }

    async fn run(pool: &Pool<Self>, sql: SqlStr) -> Result<u64, sqlx::Error> {
        Ok(sqlx::raw_sql(sql).execute(pool).await?.rows_affected())
    }

    async fn read(pool: &Pool<Self>, sql: SqlStr) -> Result<Vec<Value>, sqlx::Error> {
        let rows = sqlx::query(sql).fetch_all(pool).await?;
        rows.iter().map(row).collect()
    }
}

fn row(row: &SqliteRow) -> Result<Value, sqlx::Error> {
    (0..row.len()).map(|index| value(row, index)).collect()
}

/// By the stored value's own type: a column of SQLite only suggests one.
fn value(row: &SqliteRow, index: usize) -> Result<Value, sqlx::Error> {
    let stored = row.try_get_raw(index)?;
    if stored.is_null() {
        return Ok(Value::Null);
    }
    Ok(match stored.type_info().name() {
        "INTEGER" => json!(row.try_get_unchecked::<i64, _>(index)?),
        "REAL" => json!(row.try_get_unchecked::<f64, _>(index)?),
        "BLOB" => json!(String::from_utf8_lossy(row.try_get_unchecked(index)?)),
        _ => json!(row.try_get_unchecked::<String, _>(index)?),
    })
}
