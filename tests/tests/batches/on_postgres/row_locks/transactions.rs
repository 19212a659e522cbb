//! A call of a handler is one transaction: what it costs, and what one bad row costs the others.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::batches::BatchScript;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;

use super::queue::{batched, create_tables};
use super::{Database, broker, left, publish};

conformance![
    Database:
    a_batch_costs_a_statement_for_each_kind_of_outcome_and_one_commit,
    a_poisoned_row_does_not_hold_the_others,
    a_poisoned_row_does_not_hold_the_others_of_many_workers,
];

async fn a_batch_costs_a_statement_for_each_kind_of_outcome_and_one_commit(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1000).await;
    db.execute(
        "CREATE TABLE statements (transaction bigint); \
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN INSERT INTO statements VALUES (txid_current()); RETURN NULL; END'; \
         CREATE TRIGGER note BEFORE DELETE OR UPDATE ON jobs \
         FOR EACH STATEMENT EXECUTE FUNCTION note()",
    )
    .await;
    let script = BatchScript::each(|n| match n % 3 {
        0 => Outcome::retry_after(Duration::from_secs(3600)),
        1 => Outcome::retry_after(Duration::from_secs(7200)).because("of two kinds of delay"),
        _ => Outcome::ack(),
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched.batch(100).workers(1));
    });
    let running = service.start().await.unwrap();
    let open = "SELECT count(*) FROM jobs WHERE retry_after IS NULL";
    eventually("all are settled", async || db.value::<i64>(open).await == 0).await;
    running.shutdown().await.unwrap();
    let counts = "SELECT count(*), count(DISTINCT transaction) FROM statements";
    // The acks and the delays of ten batches.
    assert_eq!(db.rows::<(i64, i64)>(counts).await, [(20, 10)]);
}

async fn drain_with_a_poisoned_row(db: &TestDb<Database>, workers: usize) -> BatchScript {
    create_tables(db).await;
    publish(db, 1000).await;
    db.execute(
        "CREATE TABLE children (job bigint NOT NULL REFERENCES jobs (id)); \
         INSERT INTO children VALUES (50)",
    )
    .await;
    let script = BatchScript::ack();
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(batched.batch(100).workers(workers));
    });
    let running = service.start().await.unwrap();
    eventually("the others are done", async || left(db).await == 1).await;
    running.shutdown().await.unwrap();
    let left: Vec<(i64, i64)> = db.rows("SELECT id, attempt FROM jobs").await;
    assert_eq!(left, [(50, 1)], "as it was");
    script
}

async fn a_poisoned_row_does_not_hold_the_others(db: TestDb<Database>) {
    let script = drain_with_a_poisoned_row(&db, 1).await;
    let calls = script.calls();
    assert_eq!(calls[0], (1..=100).collect::<Vec<_>>());
    let singly: Vec<_> = (1..=100).map(|n| vec![n]).collect();
    assert_eq!(calls[1..=100], singly, "its rows are claimed one by one");
    let rest = calls[101..].concat();
    assert_eq!(rest, (101..=1000).collect::<Vec<_>>(), "and then batches again");
    assert_eq!(calls.len(), 110);
}

async fn a_poisoned_row_does_not_hold_the_others_of_many_workers(db: TestDb<Database>) {
    let script = drain_with_a_poisoned_row(&db, 8).await;
    // Each refusal of a batch costs its rows one more call, and there are few.
    let rows = script.rows().len();
    assert!(rows <= 1000 + 5 * 100, "{rows} calls of 1000 rows");
}
