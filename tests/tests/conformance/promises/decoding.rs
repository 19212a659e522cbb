//! Rows that no handler can be given.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::stands::Kind;

use super::queue::{FREE, Script, create_tables, scripted};
use super::{Database, broker, publish, start};

conformance![
    Database:
    an_undecodable_row_is_put_off_with_the_reason_and_harms_no_other,
    an_undecodable_row_is_a_dead_letter_after_its_attempts,
    what_becomes_of_an_undecodable_row_can_be_chosen,
    a_row_with_odd_values_harms_no_other,
];

/// Makes the messages of some rows undecodable.
async fn spoil(db: &TestDb<Database>, which: &str) {
    let broken = match <Database as Db>::BYTES {
        "BLOB" => "x'7b7b'",
        _ => "'\\x7b7b'::bytea",
    };
    db.execute(format!("UPDATE jobs SET payload = {broken} WHERE {which}")).await;
}

async fn an_undecodable_row_is_put_off_with_the_reason_and_harms_no_other(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 10).await;
    spoil(&db, "id = 3").await;
    let script = Script::always(Outcome::ack());
    let running = start(&db, &script).await;
    eventually("the others are done", async || {
        db.value::<i64>("SELECT count(*) FROM jobs").await == 1
    })
    .await;
    let reason = format!("SELECT count(*) FROM jobs WHERE last_error IS NOT NULL AND {FREE}");
    eventually("the reason is written", async || db.value::<i64>(reason.as_str()).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 9);
    let (soon, late) = (<Database as Db>::now_plus(50), <Database as Db>::now_plus(61));
    let put_off = format!("SELECT count(*) FROM jobs WHERE retry_after BETWEEN {soon} AND {late}");
    assert_eq!(db.value::<i64>(put_off).await, 1, "for a minute");
}

async fn an_undecodable_row_is_a_dead_letter_after_its_attempts(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    spoil(&db, "id = 1").await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(
            scripted
                .max_attempts(2)
                .dead_letter_group("failed")
                .on_decode_failure(DecodeFailure::RetryAfter(Duration::from_millis(10))),
        );
    });
    let running = service.start().await.unwrap();
    let dead = "SELECT count(*) FROM jobs WHERE kind = 'failed' AND last_error IS NOT NULL";
    eventually("the row is a dead letter", async || db.value::<i64>(dead).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), []);
}

async fn what_becomes_of_an_undecodable_row_can_be_chosen(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    spoil(&db, "id = 1").await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(
            scripted
                .on_decode_failure(DecodeFailure::DeadLetter)
                .max_attempts(100)
                .dead_letter_group("failed"),
        );
    });
    let running = service.start().await.unwrap();
    let dead = "SELECT count(*) FROM jobs WHERE kind = 'failed'";
    eventually("a dead letter at once", async || db.value::<i64>(dead).await == 1).await;
    running.shutdown().await.unwrap();

    db.execute("UPDATE jobs SET kind = 'work'").await;
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.on_decode_failure(DecodeFailure::Drop));
    });
    let running = service.start().await.unwrap();
    eventually("dropped", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0).await;
    running.shutdown().await.unwrap();
}

async fn a_row_with_odd_values_harms_no_other(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 5).await;
    // PostgreSQL's types leave little room; with a count that is none SQLite's row settles nothing.
    let (odd, left) = match <Database as Db>::KIND {
        Kind::Postgres => ("retry_after = '-infinity'", 0),
        Kind::Sqlite => ("attempt = 'many'", 1),
    };
    db.execute(format!("UPDATE jobs SET {odd} WHERE id = 2")).await;
    let script = Script::always(Outcome::ack());
    let running = start(&db, &script).await;
    eventually("the others are done", async || {
        db.value::<i64>("SELECT count(*) FROM jobs").await == left
    })
    .await;
    running.shutdown().await.unwrap();
    let mut others = script.seen();
    others.retain(|(n, _)| *n != 2);
    others.sort_unstable();
    assert_eq!(others, [(1, 1), (3, 1), (4, 1), (5, 1)]);
}
