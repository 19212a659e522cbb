//! What a server, a database or a service may have set, and what it does to transactions that last.

use std::str::FromStr;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, work_for};
use queue_table_tests::queue as leased;
use sqlx::postgres::PgConnectOptions;

use super::queue::{BareJob, Script, Task, create_tables, scripted, scripted_bare};
use super::{Database, publish};

conformance![
    Database:
    a_long_delivery_outlives_the_limits_of_its_server,
    another_isolation_level_by_default_does_not_matter,
    a_lease_and_a_row_lock_subscription_share_a_broker,
];

/// The way to the test's database with settings of its sessions.
fn set(db: &TestDb<Database>, settings: &[(&str, &str)]) -> PgConnectOptions {
    PgConnectOptions::from_str(db.url()).unwrap().options(settings.iter().copied())
}

async fn left(db: &TestDb<Database>) -> i64 {
    db.value("SELECT count(*) FROM jobs").await
}

async fn a_long_delivery_outlives_the_limits_of_its_server(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    let script = Script::new(async |_| {
        work_for(Duration::from_millis(1200)).await;
        Outcome::ack()
    });
    let known: Vec<(String,)> =
        db.rows("SELECT name FROM pg_settings WHERE name = 'transaction_timeout'").await;
    let mut limits = vec![("idle_in_transaction_session_timeout", "300ms")];
    limits.extend(known.iter().map(|(name,)| (name.as_str(), "500ms")));
    let broker = SqlxBroker::<Database>::from_connect_options(set(&db, &limits));
    let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(1));
    });
    let running = service.start().await.unwrap();
    eventually("both are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (2, 1)], "each ran once");
}

/// At a higher level, a row that another transaction has changed is an error instead of a row to
/// pass over.
async fn another_isolation_level_by_default_does_not_matter(db: TestDb<Database>) {
    create_tables(&db).await;
    let rows = 400;
    publish(&db, rows).await;
    let (mut running, mut scripts) = (Vec::new(), Vec::new());
    for level in ["repeatable read", "serializable"] {
        let script = Script::new(async |seen| match seen.attempt {
            1 => Outcome::retry(),
            _ => Outcome::ack(),
        });
        let options = set(&db, &[("default_transaction_isolation", level)]);
        let broker = SqlxBroker::<Database>::from_connect_options(options);
        let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
            b.mount(scripted);
        });
        running.push(service.start().await.unwrap());
        scripts.push(script);
    }
    eventually("no row is left", async || left(&db).await == 0).await;
    for running in running {
        running.shutdown().await.unwrap();
    }
    let mut seen: Vec<_> = scripts.iter().flat_map(Script::seen).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=rows).flat_map(|n| [(n, 1), (n, 2)]).collect::<Vec<_>>());
}

/// One whose rows have leases, on the table that has the column; one whose rows are locked, on
/// another.
async fn a_lease_and_a_row_lock_subscription_share_a_broker(db: TestDb<Database>) {
    leased::create_tables(&db).await;
    db.execute("ALTER TABLE bare_jobs DROP COLUMN until").await;
    let tasks: Vec<_> = (1..=200).map(|n| Task { n }).collect();
    leased::Job::messages(&tasks).group("work").insert(db.pool()).await.unwrap();
    let ids = tasks.iter().map(|task| task.n.to_string());
    BareJob::messages(&tasks).ids(ids).insert(db.pool()).await.unwrap();
    let script = Script::new(async |_| {
        work_for(Duration::from_millis(5)).await;
        Outcome::ack()
    });
    let broker = SqlxBroker::<Database>::from_url(db.url());
    let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
        // One worker fewer than the pool has connections.
        b.mount(scripted_bare.workers(9));
        b.mount(leased::scripted);
    });
    let running = service.start().await.unwrap();
    eventually("no row is left", async || {
        left(&db).await == 0 && db.value::<i64>("SELECT count(*) FROM bare_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 400, "each ran once");
}
