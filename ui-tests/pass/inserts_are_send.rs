//! Inserts in what needs a future that is `Send`: the handler of a web server, a spawned task.

use queue_table::prelude::*;
use sqlx::{Executor, Sqlite, SqliteConnection, SqlitePool};

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: Option<i64>,
    #[queue(payload)]
    payload: String,
    note: Option<String>,
}

async fn on_a_pool(pool: &SqlitePool, numbers: &[u32]) -> Result<(), SqlxBrokerError> {
    Job::message(&1).set(Job::NOTE, None).insert(pool).await?;
    Job::messages(numbers).insert(pool).await?;
    Ok(())
}

async fn in_a_transaction(pool: &SqlitePool, numbers: &[u32]) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    let one = Job::message("text").set(Job::NOTE, Some(String::new()));
    let _ = one.insert(&mut *transaction).await;
    let _ = Job::messages(numbers).insert(&mut *transaction).await;
    transaction.commit().await
}

async fn on_a_connection(connection: &mut SqliteConnection) {
    let _ = Job::message("text").insert(&mut *connection).await;
    let _ = Job::messages(&["text"]).insert(connection).await;
}

async fn on_any<'c>(executor: impl Executor<'c, Database = Sqlite> + 'c) {
    let _ = Job::message("text").insert(executor).await;
}

const fn is_send(_: &(impl Future + Send)) {}

#[test]
fn they_can_be_spawned() {
    // That this compiles is the test; it takes a database to call it.
    let _ = |pool: SqlitePool, mut connection: SqliteConnection| {
        is_send(&on_a_pool(&pool, &[1]));
        is_send(&in_a_transaction(&pool, &[1]));
        is_send(&on_a_connection(&mut connection));
        is_send(&on_any(&pool));
    };
}
