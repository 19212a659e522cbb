//! Counting deliveries, caps, dead letters, panics and timeouts.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;

use super::queue::{FREE, Script, create_tables, scripted};
use super::{Database, broker, publish, start};

conformance![
    Database:
    the_last_delivery_is_followed_by_the_dead_letter,
    one_attempt_is_spent_by_the_first_failure,
    a_panic_is_a_retry,
    a_handler_that_takes_too_long_is_a_retry,
    a_handler_that_panics_when_it_is_cut_off_is_a_retry,
    an_error_is_a_retry_with_its_text,
    counting_stops_at_the_columns_maximum,
];

const DEAD: &str = "SELECT count(*) FROM jobs WHERE kind = 'failed'";

async fn capped(db: &TestDb<Database>, script: &Script, attempts: u32) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(scripted.max_attempts(attempts).dead_letter_group("failed"));
    });
    service.start().await.unwrap()
}

async fn the_last_delivery_is_followed_by_the_dead_letter(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::always(Outcome::retry_after(Duration::ZERO).because("no"));
    let running = capped(&db, &script, 3).await;
    eventually("the row is a dead letter", async || db.value::<i64>(DEAD).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (1, 2), (1, 3)]);
    let row: Vec<(i64, Option<String>, String)> = db
        .rows(format!(
            "SELECT attempt, CAST(retry_after AS text), last_error FROM jobs WHERE {FREE}"
        ))
        .await;
    assert_eq!(row, [(1, None, "no".to_owned())], "ready for n deliveries of its own");
}

async fn one_attempt_is_spent_by_the_first_failure(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::always(Outcome::retry());
    let running = capped(&db, &script, 1).await;
    eventually("the row is a dead letter", async || db.value::<i64>(DEAD).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
}

async fn a_panic_is_a_retry(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |seen| match seen.attempt {
        1 => panic!("ouch"),
        _ => Outcome::retry_after(Duration::from_secs(3600)),
    });
    let running = start(&db, &script).await;
    eventually("a second delivery", async || script.seen().len() == 2).await;
    running.shutdown().await.unwrap();
    let reason: String = db.value("SELECT last_error FROM jobs").await;
    assert_eq!(reason, "the handler panicked: ouch");
}

async fn a_handler_that_takes_too_long_is_a_retry(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |seen| match seen.attempt {
        1 => std::future::pending().await,
        _ => Outcome::retry_after(Duration::from_secs(3600)),
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.timeout(Duration::from_millis(50)));
    });
    let running = service.start().await.unwrap();
    eventually("a second delivery", async || script.seen().len() == 2).await;
    running.shutdown().await.unwrap();
    let reason: String = db.value("SELECT last_error FROM jobs").await;
    assert_eq!(reason, "the handler took longer than 50ms");
}

/// What a handler may have in its hands when its time is over.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("boom");
    }
}

async fn a_handler_that_panics_when_it_is_cut_off_is_a_retry(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |_| {
        let _bomb = Bomb;
        std::future::pending().await
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        let short = scripted.timeout(Duration::from_millis(20));
        b.mount(short.max_attempts(2).dead_letter_group("failed"));
    });
    let running = service.start().await.unwrap();
    eventually("the row is a dead letter", async || db.value::<i64>(DEAD).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (1, 2)]);
}

async fn an_error_is_a_retry_with_its_text(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(failing);
    });
    let running = service.start().await.unwrap();
    eventually("the row is a dead letter", async || db.value::<i64>(DEAD).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(db.value::<String>("SELECT last_error FROM jobs").await, "not today");
}

#[subscriber(super::queue::Job, group = "work", max_attempts = 2, dead_letter(group = "failed"))]
async fn failing(_row: &super::queue::Job) -> Result<(), String> {
    Err("not today".to_owned())
}

async fn counting_stops_at_the_columns_maximum(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    db.execute("UPDATE jobs SET attempt = 2147483647").await;
    let script = Script::always(Outcome::ack());
    let running = start(&db, &script).await;
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
}
