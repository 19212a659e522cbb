//! One test's own database: a schema of a PostgreSQL server, or a SQLite file.

mod postgres;
mod sqlite;

use std::fmt;
use std::sync::Arc;

use queue_table::Backend;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Pool, SqlSafeStr, SqlStr};

use crate::stands::{Kind, Stand};

/// What the harness needs to know of a database, and the words in which its SQL differs.
pub trait Db: Backend {
    /// Which stands it runs on.
    const KIND: Kind;
    /// The column type of an id that the database counts up, with `PRIMARY KEY`.
    const ID: &'static str;
    /// The column type of `DateTime<Utc>`.
    const TIME: &'static str;
    /// The column type of `Vec<u8>`.
    const BYTES: &'static str;

    /// The column type of `Json<T>`.
    const JSON: &'static str;
    /// What sorts before every time, as the index of a claim has it.
    const BEFORE_EVERY_TIME: &'static str;

    /// What is left to remove at the end.
    type Place: Send + Sync;

    /// An expression for the database's own time, moved by so many seconds.
    fn now_plus(seconds: i64) -> String;

    /// Makes a new empty place and returns the URL that leads there.
    fn create(stand: &Stand) -> impl Future<Output = (String, Self::Place)> + Send;

    /// A pool on the URL that [`Db::create`] returned.
    fn connect(url: &str) -> impl Future<Output = Pool<Self>> + Send;

    /// Fails if a session of the test was left inside a transaction.
    fn no_transaction_is_left(stand: &Stand, place: &Self::Place) -> impl Future<Output = ()>;

    /// Removes the place with all that is in it.
    fn remove(stand: &Stand, place: Self::Place) -> impl Future<Output = ()> + Send;

    /// Runs any number of statements and counts the rows they changed.
    fn run(pool: &Pool<Self>, sql: SqlStr)
    -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    /// Runs a statement and returns its rows, each as an array.
    fn read(
        pool: &Pool<Self>,
        sql: SqlStr,
    ) -> impl Future<Output = Result<Vec<Value>, sqlx::Error>> + Send;
}

/// A test's own database. Clones are the same one.
pub struct TestDb<DB: Db> {
    stand: Arc<Stand>,
    url: Arc<str>,
    pool: Pool<DB>,
}

impl<DB: Db> TestDb<DB> {
    /// A new empty database, and what the caller gives to [`Db::remove`] at the end.
    pub(crate) async fn create(stand: Arc<Stand>) -> (Self, DB::Place) {
        let (url, place) = DB::create(&stand).await;
        let pool = DB::connect(&url).await;
        let db = Self { stand, url: url.into(), pool };
        (db, place)
    }

    /// Where it is, for a broker of its own; every connection made with it sees only this test.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The test's own view of the database.
    #[must_use]
    pub fn pool(&self) -> &Pool<DB> {
        &self.pool
    }

    /// The stand that it is on.
    #[must_use]
    pub fn stand(&self) -> &Stand {
        &self.stand
    }

    /// Runs any number of statements and returns how many rows they changed.
    pub async fn execute(&self, sql: impl Into<String>) -> u64 {
        let sql = sql.into();
        match DB::run(&self.pool, trusted(&sql)).await {
            Ok(changed) => changed,
            Err(error) => panic!("{error}\nin: {sql}"),
        }
    }

    /// Runs one statement and returns its rows, each read from an array: `rows::<(i64, String)>`.
    ///
    /// Times come as `DateTime<Utc>`, bytes as their UTF-8 text.
    pub async fn rows<T: DeserializeOwned>(&self, sql: impl Into<String>) -> Vec<T> {
        let sql = sql.into();
        let rows = DB::read(&self.pool, trusted(&sql)).await;
        let rows = rows.and_then(|rows| {
            serde_json::from_value(Value::Array(rows)).map_err(sqlx::Error::decode)
        });
        match rows {
            Ok(rows) => rows,
            Err(error) => panic!("{error}\nin: {sql}"),
        }
    }

    /// Runs one statement and returns the single value of its single row.
    pub async fn value<T: DeserializeOwned>(&self, sql: impl Into<String>) -> T {
        let sql = sql.into();
        let mut rows: Vec<(T,)> = self.rows(&sql).await;
        match (rows.pop(), rows.is_empty()) {
            (Some((value,)), true) => value,
            _ => panic!("not one row\nin: {sql}"),
        }
    }
}

/// The SQL of tests is written in tests, so it may be put together at run time.
fn trusted(sql: &str) -> SqlStr {
    AssertSqlSafe(sql).into_sql_str()
}

impl<DB: Db> Clone for TestDb<DB> {
    fn clone(&self) -> Self {
        Self { stand: Arc::clone(&self.stand), url: Arc::clone(&self.url), pool: self.pool.clone() }
    }
}

impl<DB: Db> fmt::Debug for TestDb<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestDb").field("url", &self.url).finish_non_exhaustive()
    }
}
