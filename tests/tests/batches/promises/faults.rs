//! Batches with rows or calls that go wrong: the others lose nothing.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::batches::BatchScript;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, work_for};

use super::queue::{FREE, batched, create_tables, in_work};
use super::{Database, broker, left, publish, start};

conformance![
    Database:
    undecodable_rows_leave_their_batch,
    no_call_is_made_for_undecodable_rows_only,
    a_panic_is_a_retry_of_all,
    a_timeout_is_a_retry_of_all,
    a_batch_past_the_drain_timeout_is_given_back_with_its_counts,
];

/// Makes the messages of some rows undecodable.
async fn spoil(db: &TestDb<Database>, which: &str) {
    let broken = match <Database as Db>::BYTES {
        "BLOB" => "x'7b7b'",
        _ => "'\\x7b7b'::bytea",
    };
    db.execute(format!("UPDATE jobs SET payload = {broken} WHERE {which}")).await;
}

async fn undecodable_rows_leave_their_batch(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 10).await;
    spoil(&db, "id IN (1, 4, 10)").await;
    let script = BatchScript::each(|n| match n {
        5 => Outcome::retry_after(Duration::from_secs(3600)).because("row 5 is early"),
        _ => Outcome::ack(),
    });
    let running = start(&db, &script).await;
    let put_off = format!(
        "SELECT id FROM jobs WHERE retry_after IS NOT NULL AND last_error IS NOT NULL AND {FREE} \
         ORDER BY id"
    );
    eventually("only they and row 5 are left", async || {
        db.rows::<(i64,)>(put_off.as_str()).await == [(1,), (4,), (5,), (10,)]
            && left(&db).await == 4
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.calls(), [[2, 3, 5, 6, 7, 8, 9]]);
    let reason: String = db.value("SELECT last_error FROM jobs WHERE id = 5").await;
    assert_eq!(reason, "row 5 is early", "each has its own");
}

async fn no_call_is_made_for_undecodable_rows_only(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    spoil(&db, "id <= 3").await;
    let script = BatchScript::ack();
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched.on_decode_failure(DecodeFailure::Drop));
    });
    let running = service.start().await.unwrap();
    eventually("they are dropped", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert!(script.calls().is_empty());
}

/// Runs three rows of one delivery each, and returns why they are dead letters.
async fn reasons(db: &TestDb<Database>, script: &BatchScript) -> Vec<(i64, String)> {
    create_tables(db).await;
    publish(db, 3).await;
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        let once = batched.workers(1).max_attempts(1).dead_letter_group("failed");
        b.mount(once.timeout(Duration::from_millis(50)));
    });
    let running = service.start().await.unwrap();
    let dead = "SELECT count(*) FROM jobs WHERE kind = 'failed'";
    eventually("all are dead letters", async || db.value::<i64>(dead).await == 3).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.calls(), [[1, 2, 3]]);
    db.rows("SELECT id, last_error FROM jobs ORDER BY id").await
}

async fn a_panic_is_a_retry_of_all(db: TestDb<Database>) {
    let script = BatchScript::new(async |call| panic!("cannot work on {} rows", call.rows.len()));
    let reason = "the handler panicked: cannot work on 3 rows".to_owned();
    let expected = [1, 2, 3].map(|id| (id, reason.clone()));
    assert_eq!(reasons(&db, &script).await, expected);
}

async fn a_timeout_is_a_retry_of_all(db: TestDb<Database>) {
    let script = BatchScript::new(async |_| {
        work_for(Duration::from_secs(3600)).await;
        Vec::new()
    });
    let reason = "the handler took longer than 50ms".to_owned();
    let expected = [1, 2, 3].map(|id| (id, reason.clone()));
    assert_eq!(reasons(&db, &script).await, expected);
}

async fn a_batch_past_the_drain_timeout_is_given_back_with_its_counts(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 5).await;
    db.execute("UPDATE jobs SET attempt = 7 WHERE id = 1").await;
    let script = BatchScript::new(async |_| {
        work_for(Duration::from_secs(3600)).await;
        Vec::new()
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched.workers(2));
    });
    let service = service.drain_timeout(Duration::from_millis(100));
    let running = service.start().await.unwrap();
    eventually("all are in work", async || script.rows().len() == 5).await;
    running.shutdown().await.unwrap();
    let free = in_work::<Database>();
    let free = format!("SELECT id, attempt FROM jobs WHERE {free} = 0 ORDER BY id");
    let expected = [(1, 7), (2, 1), (3, 1), (4, 1), (5, 1)];
    assert_eq!(db.rows::<(i64, i64)>(free).await, expected);
}
