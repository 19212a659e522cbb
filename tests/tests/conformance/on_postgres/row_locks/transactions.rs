//! The transactions that rows are in work in: how many there are, and what they keep from others.

use std::sync::Arc;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tokio::sync::Semaphore;

use super::queue::{Script, create_tables};
use super::{Database, publish, start};

conformance![
    Database:
    a_delivery_has_a_transaction_and_nothing_else_has_one,
    a_row_in_work_is_locked_for_everybody,
    a_row_in_work_can_be_referred_to,
    two_processes_never_have_the_same_row,
];

/// A handler that works until the test lets it end.
fn gated(gate: &Arc<Semaphore>) -> Script {
    let gate = Arc::clone(gate);
    Script::new(move |_| {
        let gate = Arc::clone(&gate);
        async move {
            gate.acquire().await.unwrap().forget();
            Outcome::ack()
        }
    })
}

/// How many other sessions of the test have a transaction open and do nothing in it.
const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' \
    AND application_name = current_setting('application_name')";

/// How many other sessions of the test do anything or have a transaction open. Between two
/// statements of a transaction a session is one of these; of [`WAITS`] it may be or not.
const WORKS: &str = "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' \
    AND pid <> pg_backend_pid() AND application_name = current_setting('application_name')";

async fn a_delivery_has_a_transaction_and_nothing_else_has_one(db: TestDb<Database>) {
    create_tables(&db).await;
    let gate = Arc::new(Semaphore::new(0));
    let script = gated(&gate);
    let running = start(&db, &script).await;
    let moment = Duration::from_millis(300);
    let count = async |text| db.value::<i64>(text).await;
    stays("an idle subscription has none", moment, async || count(WAITS).await == 0).await;
    publish(&db, 3).await;
    eventually("three are in work", async || script.seen().len() == 3).await;
    eventually("each has one", async || count(WORKS).await == 3).await;
    stays("and no more", moment, async || count(WAITS).await == 3).await;
    gate.add_permits(2);
    eventually("one is left", async || count(WORKS).await == 1).await;
    stays("and no more", moment, async || count(WAITS).await == 1).await;
    gate.add_permits(1);
    eventually("none is left", async || count(WORKS).await == 0).await;
    stays("and none comes back", moment, async || count(WAITS).await == 0).await;
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs").await, 0);
    running.shutdown().await.unwrap();
}

async fn a_row_in_work_is_locked_for_everybody(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let gate = Arc::new(Semaphore::new(0));
    let script = gated(&gate);
    let running = start(&db, &script).await;
    eventually("it is in work", async || script.seen().len() == 1).await;
    let free: Vec<(i64,)> = db.rows("SELECT id FROM jobs FOR NO KEY UPDATE SKIP LOCKED").await;
    assert_eq!(free, [], "whoever else claims leaves it out");
    gate.add_permits(1);
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
}

/// As a service does whose handlers insert what belongs to the row, on connections of its own.
async fn a_row_in_work_can_be_referred_to(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute("CREATE TABLE children (job bigint REFERENCES jobs (id) ON DELETE CASCADE)").await;
    publish(&db, 1).await;
    let gate = Arc::new(Semaphore::new(0));
    let script = gated(&gate);
    let running = start(&db, &script).await;
    eventually("it is in work", async || script.seen().len() == 1).await;
    let mut other = PgConnection::connect(db.url()).await.unwrap();
    // An error, if it had to wait.
    let insert = "SET lock_timeout = '1s'; INSERT INTO children VALUES (1)";
    sqlx::raw_sql(insert).execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    gate.add_permits(1);
    eventually("it is done", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
}

async fn two_processes_never_have_the_same_row(db: TestDb<Database>) {
    create_tables(&db).await;
    let rows = 500;
    publish(&db, rows).await;
    let scripts: Vec<_> = (0..3).map(|_| Script::always(Outcome::ack())).collect();
    let mut running = Vec::new();
    for script in &scripts {
        running.push(start(&db, script).await);
    }
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    for running in running {
        running.shutdown().await.unwrap();
    }
    let mut seen: Vec<_> = scripts.iter().flat_map(Script::seen).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=rows).map(|n| (n, 1)).collect::<Vec<_>>());
}
