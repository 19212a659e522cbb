//! What only SQLite lets into a table.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted, scripted_bare};

use super::Database;

conformance![
    Database:
    a_row_without_an_id_takes_no_place_in_a_claim,
    a_row_whose_id_cannot_be_read_harms_no_other,
    a_lease_that_is_no_time_costs_its_own_row_alone,
    a_generated_column_is_a_column,
    rows_that_a_trigger_takes_are_not_published_twice,
];

async fn start_bare(db: &TestDb<Database>, script: &Script, workers: usize) -> RunningService {
    let broker = SqlxBroker::<Database>::from_url(db.url());
    let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted_bare.workers(workers));
    });
    service.start().await.unwrap()
}

async fn a_row_without_an_id_takes_no_place_in_a_claim(db: TestDb<Database>) {
    create_tables(&db).await;
    let task = "'{\"n\":1}'";
    db.execute(format!("INSERT INTO bare_jobs (id, payload) VALUES (NULL, {task}), ('a', {task})"))
        .await;
    let script = Script::always(Outcome::ack());
    let running = start_bare(&db, &script, 1).await;
    eventually("the other row", async || script.seen().len() == 1).await;
    running.shutdown().await.unwrap();
}

async fn a_row_whose_id_cannot_be_read_harms_no_other(db: TestDb<Database>) {
    create_tables(&db).await;
    // No UTF-8, and the first of the two that one claim takes.
    db.execute(
        "INSERT INTO bare_jobs (id, payload) \
         VALUES (CAST(x'01ff' AS text), '{\"n\":1}'), ('a', '{\"n\":2}')",
    )
    .await;
    let script = Script::always(Outcome::ack());
    let running = start_bare(&db, &script, 2).await;
    eventually("the other row", async || script.seen() == [(2, 1)]).await;
    running.shutdown().await.unwrap();
    let leased = "SELECT count(*) FROM bare_jobs WHERE until IS NOT NULL";
    assert_eq!(db.value::<i64>(leased).await, 1, "it waits for the end of its lease");
}

async fn a_lease_that_is_no_time_costs_its_own_row_alone(db: TestDb<Database>) {
    create_tables(&db).await;
    let tasks = [Task { n: 1 }, Task { n: 2 }];
    Job::messages(&tasks).group("work").ids([1, 2]).insert(db.pool()).await.unwrap();
    let script = Script::new(async |_| std::future::pending().await);
    let broker = SqlxBroker::<Database>::from_url(db.url());
    let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.lease(Duration::from_millis(300)));
    });
    let running = service.drain_timeout(Duration::ZERO).start().await.unwrap();
    eventually("both deliveries", async || script.seen().len() == 2).await;
    db.execute("UPDATE jobs SET locked_until = 'parked' WHERE id = 1").await;
    let lease = "SELECT locked_until FROM jobs WHERE id = 2";
    for _ in 0..3 {
        let before: String = db.value(lease).await;
        eventually("the other row's lease goes on", async || {
            db.value::<String>(lease).await > before
        })
        .await;
    }
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 2);
}

async fn a_generated_column_is_a_column(db: TestDb<Database>) {
    db.execute(
        "CREATE TABLE bare_jobs (id text PRIMARY KEY, until bigint, task text NOT NULL, \
         payload text GENERATED ALWAYS AS (task) VIRTUAL)",
    )
    .await;
    db.execute("INSERT INTO bare_jobs (id, task) VALUES ('a', '{\"n\":1}')").await;
    let script = Script::always(Outcome::ack());
    let running = start_bare(&db, &script, 1).await;
    eventually("the row", async || script.seen().len() == 1).await;
    running.shutdown().await.unwrap();
}

async fn rows_that_a_trigger_takes_are_not_published_twice(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute(
        "CREATE TABLE routed (payload text); CREATE TRIGGER route BEFORE INSERT ON jobs BEGIN \
         INSERT INTO routed VALUES (NEW.payload); SELECT RAISE(IGNORE); END",
    )
    .await;
    let connected = SqlxBroker::<Database>::from_url(db.url()).connect().await.unwrap();
    let publisher = connected.publisher::<Job>();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20 {
        let publisher = publisher.clone();
        tasks.spawn(async move { publisher.publish(Job::message(&Task { n }).group("a")).await });
    }
    let answers = tasks.join_all().await;
    assert!(answers.iter().all(Result::is_err), "nobody has an id that is his");
    assert_eq!(db.value::<i64>("SELECT count(*) FROM routed").await, 20);
    connected.shutdown().await;
}
