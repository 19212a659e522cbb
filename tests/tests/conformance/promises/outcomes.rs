//! What each outcome writes.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};

use super::queue::{
    BareJob, FREE, KEPT_FREE, KeptJob, Script, Task, create_tables, scripted_bare, scripted_kept,
};
use super::{Database, broker, publish, start};

conformance![
    Database:
    an_acked_row_is_gone,
    a_dropped_row_is_gone,
    a_retried_row_comes_back_at_once_and_is_free,
    a_row_that_is_put_off_comes_back_when_it_is_due,
    a_table_without_retry_after_puts_nothing_off,
    a_table_that_keeps_its_rows_marks_them,
    the_reason_of_a_retry_is_written_cleaned_and_cut,
    a_handler_that_returns_nothing_acks,
];

async fn an_acked_row_is_gone(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let script = Script::always(Outcome::ack());
    let running = start(&db, &script).await;
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
    let mut seen = script.seen();
    seen.sort_unstable();
    assert_eq!(seen, [(1, 1), (2, 1), (3, 1)]);
}

async fn a_dropped_row_is_gone(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::always(Outcome::drop());
    let running = start(&db, &script).await;
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
}

async fn a_retried_row_comes_back_at_once_and_is_free(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |seen| match seen.attempt {
        1 | 2 => Outcome::retry(),
        _ => Outcome::retry_after(Duration::from_secs(3600)),
    });
    let running = start(&db, &script).await;
    eventually("the third delivery", async || script.seen().len() == 3).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (1, 2), (1, 3)]);
    let row: Vec<(i64,)> = db.rows(format!("SELECT attempt FROM jobs WHERE {FREE}")).await;
    assert_eq!(row, [(4,)], "the next delivery is the fourth, and nobody has the row");
}

async fn a_row_that_is_put_off_comes_back_when_it_is_due(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let pause = Duration::from_millis(400);
    let script = Script::new(move |seen| async move {
        if seen.attempt == 1 { Outcome::retry_after(pause) } else { Outcome::ack() }
    });
    let running = start(&db, &script).await;
    eventually("the first delivery", async || script.seen().len() == 1).await;
    let first = std::time::Instant::now();
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    assert!(first.elapsed() > pause * 9 / 10, "not before it was due: {:?}", first.elapsed());
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (1, 2)]);
}

async fn a_table_without_retry_after_puts_nothing_off(db: TestDb<Database>) {
    create_tables(&db).await;
    BareJob::message(&Task { n: 1 }).id("one".to_owned()).insert(db.pool()).await.unwrap();
    let calls = std::sync::atomic::AtomicU32::new(0);
    let script = Script::new(move |_| {
        let first = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        let outcome = Outcome::retry_after(Duration::from_secs(3600));
        std::future::ready(if first { outcome } else { Outcome::ack() })
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted_bare);
    });
    let running = service.start().await.unwrap();
    eventually("no row is left", async || {
        db.value::<i64>("SELECT count(*) FROM bare_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 2);
}

async fn a_table_that_keeps_its_rows_marks_them(db: TestDb<Database>) {
    create_tables(&db).await;
    KeptJob::row().id(7).group("work").insert(db.pool()).await.unwrap();
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted_kept);
    });
    let running = service.start().await.unwrap();
    let done = format!("SELECT count(*) FROM kept_jobs WHERE done IS NOT NULL AND {KEPT_FREE}");
    eventually("the row is marked", async || db.value::<i64>(done.as_str()).await == 1).await;
    stays("a marked row is not claimed", Duration::from_millis(200), async || {
        script.seen() == [(7, 1)]
    })
    .await;
    running.shutdown().await.unwrap();
}

async fn the_reason_of_a_retry_is_written_cleaned_and_cut(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |seen| match seen.attempt {
        1 => Outcome::retry_after(Duration::from_secs(3600))
            .because(format!("a\0b{}", "ü".repeat(100_000))),
        _ => Outcome::ack(),
    });
    let running = start(&db, &script).await;
    let reasons = "SELECT count(*) FROM jobs WHERE last_error IS NOT NULL";
    eventually("the reason is written", async || db.value::<i64>(reasons).await == 1).await;
    running.shutdown().await.unwrap();
    let reason: String = db.value("SELECT last_error FROM jobs").await;
    assert!(reason.starts_with("abüü"), "without the NUL: {}", &reason[..10]);
    assert_eq!(reason.len(), 8 * 1024);
}

async fn a_handler_that_returns_nothing_acks(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(silent);
    });
    let running = service.start().await.unwrap();
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
}

#[subscriber(super::queue::Job, group = "work")]
async fn silent(_task: &Task) {}
