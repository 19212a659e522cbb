//! A file that somebody else holds for longer than a statement waits.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Job, Task, create_tables, scripted};
use sqlx::sqlite::SqliteConnectOptions;

use super::Database;
use crate::gate::{Gate, left};

conformance![Database: outcomes_wait_for_whoever_holds_the_file];

const ROWS: i64 = 20;

async fn outcomes_wait_for_whoever_holds_the_file(db: TestDb<Database>) {
    create_tables(&db).await;
    let tasks: Vec<_> = (1..=ROWS).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=ROWS).insert(db.pool()).await.unwrap();
    let gate = Gate::closed();
    let script = gate.then(|n, _| match n % 4 {
        0 => Outcome::retry_after(Duration::from_secs(3600)).because("later"),
        _ => Outcome::ack(),
    });
    let options: SqliteConnectOptions = db.url().parse().unwrap();
    let options = options.busy_timeout(Duration::from_millis(20));
    let broker = SqlxBroker::<Database>::from_connect_options(options);
    // Renewals and claims are held up as well: a worker is free, and a lease is short.
    let service = Service::new("busy").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(21).lease(Duration::from_secs(10)));
    });
    let running = service.start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 20).await;

    let mut holder = db.pool().acquire().await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *holder).await.unwrap();
    gate.open_to(ROWS);
    eventually("every handler ended", async || gate.ended() == 20).await;
    // Many times as long as a statement waits.
    stays("nothing is written", Duration::from_secs(1), async || left(&db).await == ROWS).await;
    sqlx::raw_sql("COMMIT").execute(&mut *holder).await.unwrap();
    drop(holder);

    let written = "SELECT count(*) FROM jobs WHERE last_error = 'later' AND locked_until IS NULL";
    eventually("every outcome is written", async || {
        left(&db).await == ROWS / 4 && db.value::<i64>(written).await == ROWS / 4
    })
    .await;
    running.shutdown().await.unwrap();
    let mut seen = script.seen();
    seen.sort_unstable();
    assert_eq!(seen, (1..=ROWS).map(|n| (n, 1)).collect::<Vec<_>>(), "none ran twice");
}
