//! What leases make of a batch: each row has its own.

use std::sync::Arc;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::batches::BatchScript;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, stays};
use tokio::sync::Notify;

use super::queue::{batched_bare, batched_rows, create_tables};
use super::{Database, broker, left, publish, start};

conformance![
    Database:
    a_row_that_is_delivered_again_is_delivered_alone,
    undecodable_rows_of_a_table_without_delays_are_kept_back,
    a_lost_row_is_told_and_the_others_settle,
    a_row_that_is_refused_keeps_its_lease_and_the_others_settle,
];

async fn a_row_that_is_delivered_again_is_delivered_alone(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 8).await;
    db.execute("UPDATE jobs SET attempt = 2 WHERE id IN (3, 4)").await;
    let script = BatchScript::ack();
    let running = start(&db, &script).await;
    eventually("all rows are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.calls(), [vec![1, 2], vec![3], vec![4], vec![5, 6, 7, 8]]);
}

async fn undecodable_rows_of_a_table_without_delays_are_kept_back(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute(
        "INSERT INTO bare_jobs (id, payload) \
         VALUES ('a', '{\"n\":1}'), ('b', '{{'), ('c', '{\"n\":3}')",
    )
    .await;
    let script = BatchScript::ack();
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched_bare.workers(1));
    });
    let running = service.start().await.unwrap();
    let held = "SELECT count(*) FROM bare_jobs WHERE id = 'b' AND until IS NOT NULL";
    eventually("the good rows are done, and the bad one is held", async || {
        db.value::<i64>("SELECT count(*) FROM bare_jobs").await == 1
            && db.value::<i64>(held).await == 1
    })
    .await;
    let until: i64 = db.value("SELECT until FROM bare_jobs").await;
    stays("it is not claimed again", Duration::from_millis(200), async || {
        db.value::<i64>("SELECT until FROM bare_jobs").await == until
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.calls(), [[1, 3]]);
}

async fn a_lost_row_is_told_and_the_others_settle(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 5).await;
    let script = BatchScript::new(async |call| {
        call.cancellation.cancelled().await;
        vec![Outcome::ack(); call.rows.len()]
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched_rows.workers(1).lease(Duration::from_millis(200)));
    });
    let running = service.start().await.unwrap();
    eventually("all are in work", async || script.calls() == [[1, 2, 3, 4, 5]]).await;
    let until = Database::now_plus(3600);
    db.execute(format!("UPDATE jobs SET locked_until = {until}, attempt = 7 WHERE id = 4")).await;
    eventually("the others are done", async || left(&db).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(db.rows::<(i64, i64)>("SELECT id, attempt FROM jobs").await, [(4, 7)]);
}

async fn a_row_that_is_refused_keeps_its_lease_and_the_others_settle(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 10).await;
    db.execute(
        "CREATE TABLE children (job bigint NOT NULL REFERENCES jobs (id)); \
         INSERT INTO children VALUES (6)",
    )
    .await;
    let together = Arc::new(Notify::new());
    let wait = Arc::clone(&together);
    let script = BatchScript::new(move |call| {
        let wait = Arc::clone(&wait);
        async move {
            wait.notified().await;
            vec![Outcome::ack(); call.rows.len()]
        }
    });
    let running = start(&db, &script).await;
    eventually("all are in work", async || script.rows().len() == 10).await;
    together.notify_one();
    let now = Database::now_plus(0);
    let leased = format!("SELECT id, attempt FROM jobs WHERE locked_until > {now}");
    eventually("the others are done", async || left(&db).await == 1).await;
    stays("the refused row keeps its lease", Duration::from_millis(200), async || {
        db.rows::<(i64, i64)>(leased.as_str()).await == [(6, 2)]
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.rows().len(), 10);
}
