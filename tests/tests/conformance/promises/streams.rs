//! Rows in the hands of a loop of the user's own: what the stream gives, and what settling it says.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use queue_table::prelude::*;
use queue_table::{ConnectedSqlxBroker, Delivery, DeliveryStream, SubscribeOptions};
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{BareJob, Job, KeptJob, Task, create_tables};
use queue_table_tests::stands::Kind;

use super::{Database, broker, publish};

conformance![
    Database:
    a_delivery_tells_what_it_is,
    each_settlement_is_in_the_table_when_it_is_ready,
    a_row_without_a_count_and_a_table_that_keeps_its_rows_are_settled,
    a_spent_row_goes_to_the_dead_letters,
    a_dropped_delivery_is_returned_at_once_and_counts,
    a_settlement_that_nobody_polled_returns_its_row,
    a_settlement_that_nobody_waits_for_is_written,
    no_more_deliveries_are_in_flight_than_asked_for,
    a_lease_is_renewed_while_its_delivery_is_in_hand,
    a_delivery_that_lost_its_row_is_told_and_says_so,
    a_row_that_is_gone_is_lost,
    a_refusal_is_the_rows_own,
    a_message_that_is_none_is_an_error_and_still_in_hand,
    options_that_contradict_themselves_are_refused,
    a_table_that_is_dropped_ends_the_stream,
    deliveries_are_worked_on_beside_each_other,
];

fn work() -> SubscribeOptions {
    SubscribeOptions::new().group("work").poll_interval(Duration::from_millis(50))
}

async fn connect(db: &TestDb<Database>) -> ConnectedSqlxBroker<Database> {
    create_tables(db).await;
    broker(db).connect().await.unwrap()
}

async fn next<T>(stream: &mut DeliveryStream<Database, T>) -> Delivery<Database, T>
where
    T: queue_table::TableOn<Database>,
{
    stream.next().await.unwrap().unwrap()
}

/// The group, the count and the reason of each row, and whether it is leased.
async fn rows(db: &TestDb<Database>) -> Vec<(i64, String, i64, Option<String>, bool)> {
    let now = Database::now_plus(0);
    let rows: Vec<(i64, String, i64, Option<String>, i64)> = db
        .rows(format!(
            "SELECT id, kind, attempt, last_error, CASE WHEN locked_until > {now} THEN 1 ELSE 0 END \
             FROM jobs ORDER BY id"
        ))
        .await;
    let is_leased = |leased| leased == 1;
    rows.into_iter().map(|(id, kind, n, why, l)| (id, kind, n, why, is_leased(l))).collect()
}

async fn left(db: &TestDb<Database>) -> Vec<i64> {
    rows(db).await.into_iter().map(|(id, ..)| id).collect()
}

async fn a_delivery_tells_what_it_is(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 2).await;
    // With the extensions of `StreamExt` and `TryStreamExt`, as with its own `next`.
    let stream = broker.subscribe::<Job>(work()).await.unwrap();
    let mut stream = stream.map_ok(|delivery| delivery.because("nothing yet")).take(2);
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!((*first.id(), first.attempt(), first.group()), (1, 1, Some("work")));
    assert_eq!(first.message::<Task>().unwrap(), Task { n: 1 });
    let row = first.row().unwrap();
    assert_eq!((row.id, row.kind.as_str(), row.attempt, row.note), (1, "work", 1, None));
    assert!(row.locked_until.is_some(), "its lease");
    assert!(!first.cancellation().is_cancelled());
    first.ack().await.unwrap();
    let second = stream.try_next().await.unwrap().unwrap();
    assert_eq!(*second.id(), 2);
    second.ack().await.unwrap();
    assert!(stream.next().await.is_none());
}

async fn each_settlement_is_in_the_table_when_it_is_ready(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 4).await;
    let mut stream = broker.subscribe::<Job>(work().in_flight(4)).await.unwrap();
    next(&mut stream).await.ack().await.unwrap();
    assert_eq!(left(&db).await, [2, 3, 4]);
    next(&mut stream).await.discard().await.unwrap();
    assert_eq!(left(&db).await, [3, 4]);
    let late = next(&mut stream).await.because("busy").retry_after(Duration::from_secs(3600));
    late.await.unwrap();
    let now = Database::now_plus(3500);
    let put_off = format!("SELECT id FROM jobs WHERE retry_after > {now} AND locked_until IS NULL");
    assert_eq!(db.rows::<(i64,)>(put_off).await, [(3,)]);
    next(&mut stream).await.retry().await.unwrap();
    let again = next(&mut stream).await;
    assert_eq!((*again.id(), again.attempt()), (4, 2));
    again.ack().await.unwrap();
    let busy = Some("busy".to_owned());
    assert_eq!(rows(&db).await, [(3, "work".to_owned(), 2, busy, false)]);
}

async fn a_row_without_a_count_and_a_table_that_keeps_its_rows_are_settled(db: TestDb<Database>) {
    let broker = connect(&db).await;
    BareJob::message(&Task { n: 7 }).id("a".to_owned()).insert(db.pool()).await.unwrap();
    let mut bare = broker.subscribe::<BareJob>(SubscribeOptions::new()).await.unwrap();
    let delivery = next(&mut bare).await;
    assert_eq!((delivery.id().as_str(), delivery.attempt(), delivery.group()), ("a", 1, None));
    // It cannot be put off, so that it comes back at once.
    delivery.retry_after(Duration::from_secs(3600)).await.unwrap();
    drop(next(&mut bare).await);
    let delivery = next(&mut bare).await;
    assert_eq!(delivery.message::<Task>().unwrap(), Task { n: 7 });
    delivery.ack().await.unwrap();
    assert_eq!(db.value::<i64>("SELECT count(*) FROM bare_jobs").await, 0);

    KeptJob::row().group("work").id(1).insert(db.pool()).await.unwrap();
    let mut kept = broker.subscribe::<KeptJob>(work()).await.unwrap();
    let delivery = next(&mut kept).await;
    assert_eq!(delivery.row().unwrap().attempt, 1);
    delivery.ack().await.unwrap();
    let done = "SELECT count(*) FROM kept_jobs WHERE done IS NOT NULL AND until IS NULL";
    assert_eq!(db.value::<i64>(done).await, 1);
}

async fn a_spent_row_goes_to_the_dead_letters(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let options = work().max_attempts(2).dead_letter_group("failed");
    let mut stream = broker.subscribe::<Job>(options).await.unwrap();
    next(&mut stream).await.retry().await.unwrap();
    next(&mut stream).await.because("no use").retry_after(Duration::from_secs(1)).await.unwrap();
    let why = Some("no use".to_owned());
    assert_eq!(rows(&db).await, [(1, "failed".to_owned(), 1, why, false)]);
}

async fn a_dropped_delivery_is_returned_at_once_and_counts(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut stream = broker.subscribe::<Job>(work()).await.unwrap();
    let delivery = next(&mut stream).await;
    // Nobody claims it again.
    drop(stream);
    drop(delivery);
    eventually("the row is free", async || {
        rows(&db).await == [(1, "work".to_owned(), 2, None, false)]
    })
    .await;
    let mut stream = broker.subscribe::<Job>(work()).await.unwrap();
    let again = next(&mut stream).await;
    assert_eq!((*again.id(), again.attempt()), (1, 2));
    again.ack().await.unwrap();
}

async fn a_settlement_that_nobody_polled_returns_its_row(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut stream = broker.subscribe::<Job>(work()).await.unwrap();
    drop(next(&mut stream).await.ack());
    let again = next(&mut stream).await;
    assert_eq!((*again.id(), again.attempt()), (1, 2));
    again.ack().await.unwrap();
}

async fn a_settlement_that_nobody_waits_for_is_written(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut stream = broker.subscribe::<Job>(work()).await.unwrap();
    // Polled once, and dropped.
    let ready = next(&mut stream).await.ack().now_or_never();
    assert!(ready.is_none(), "no database answers at once");
    eventually("the row is gone", async || left(&db).await.is_empty()).await;
}

async fn no_more_deliveries_are_in_flight_than_asked_for(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 5).await;
    let mut stream = broker.subscribe::<Job>(work().in_flight(2)).await.unwrap();
    let (first, second) = (next(&mut stream).await, next(&mut stream).await);
    let leased = async || rows(&db).await.into_iter().filter(|row| row.4).count();
    stays("two are in flight", Duration::from_millis(200), async || {
        stream.next().now_or_never().is_none() && leased().await == 2
    })
    .await;
    drop(first);
    let third = next(&mut stream).await;
    second.ack().await.unwrap();
    assert_ne!(next(&mut stream).await.id(), third.id());
}

async fn a_lease_is_renewed_while_its_delivery_is_in_hand(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let options = work().lease(Duration::from_millis(400));
    let mut stream = broker.subscribe::<Job>(options).await.unwrap();
    let delivery = next(&mut stream).await;
    let leased = "SELECT CAST(locked_until AS text) FROM jobs";
    let mut before: String = db.value(leased).await;
    for n in 1..=3 {
        before = eventually(&format!("renewal {n}"), async || {
            let after: String = db.value(leased).await;
            (after > before).then_some(after)
        })
        .await;
    }
    assert_eq!(delivery.attempt(), 1);
    delivery.ack().await.unwrap();
    assert_eq!(left(&db).await, [0_i64; 0]);
}

#[track_caller]
fn assert_lost(error: &SqlxBrokerError, row: &str) {
    let SqlxBrokerError::LeaseLost { subscription, table, id } = error else { panic!("{error}") };
    assert_eq!((subscription.as_str(), table.as_str(), id.as_str()), ("sweeper", "jobs", row));
    let text = error.to_string();
    assert!(text.contains("`sweeper`") && text.contains("`jobs`") && text.contains(row), "{text}");
    assert!(!error.is_transient());
}

async fn a_delivery_that_lost_its_row_is_told_and_says_so(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 2).await;
    let options = work().name("sweeper").lease(Duration::from_millis(300)).in_flight(2);
    let mut stream = broker.subscribe::<Job>(options).await.unwrap();
    let (first, second) = (next(&mut stream).await, next(&mut stream).await);
    let until = Database::now_plus(3600);
    db.execute(format!("UPDATE jobs SET locked_until = {until}, attempt = 7")).await;
    first.cancellation().cancelled().await;
    assert_lost(&first.ack().await.unwrap_err(), "1");
    // A delivery that nobody told learns it from its settlement.
    assert_lost(&second.retry().await.unwrap_err(), "2");
    assert_eq!(db.rows::<(i64,)>("SELECT attempt FROM jobs").await, [(7,), (7,)]);
}

async fn a_row_that_is_gone_is_lost(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut stream = broker.subscribe::<Job>(work().name("sweeper")).await.unwrap();
    let delivery = next(&mut stream).await;
    db.execute("DELETE FROM jobs").await;
    assert_lost(&delivery.ack().await.unwrap_err(), "1");
}

async fn a_refusal_is_the_rows_own(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 3).await;
    db.execute(
        "CREATE TABLE children (job bigint NOT NULL REFERENCES jobs (id)); \
         INSERT INTO children VALUES (2)",
    )
    .await;
    let mut stream = broker.subscribe::<Job>(work().name("sweeper").in_flight(3)).await.unwrap();
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(next(&mut stream).await);
    }
    let settled = join_all(all.into_iter().map(Delivery::ack)).await;
    let [Ok(()), Err(error), Ok(())] = &settled[..] else { panic!("{settled:?}") };
    let SqlxBrokerError::Refused { subscription, statement, table, id, source } = error else {
        panic!("{error}")
    };
    let named = (subscription.as_str(), *statement, table.as_str(), id.as_str());
    assert_eq!(named, ("sweeper", "ack", "jobs", "2"));
    assert!(source.as_database_error().is_some_and(|error| error.is_foreign_key_violation()));
    assert_eq!(rows(&db).await, [(2, "work".to_owned(), 2, None, true)], "it keeps its lease");
}

async fn a_message_that_is_none_is_an_error_and_still_in_hand(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let nonsense = match Database::KIND {
        Kind::Postgres => "convert_to('{', 'UTF8')",
        Kind::Sqlite => "CAST('{' AS blob)",
    };
    db.execute(format!("UPDATE jobs SET payload = {nonsense}")).await;
    let mut stream = broker.subscribe::<Job>(work().name("sweeper")).await.unwrap();
    let delivery = next(&mut stream).await;
    let error = delivery.message::<Task>().unwrap_err();
    let SqlxBrokerError::Undecodable { subscription, table, id, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((subscription.as_str(), table.as_str(), id.as_str()), ("sweeper", "jobs", "1"));
    delivery.because(error).discard().await.unwrap();
    assert_eq!(left(&db).await, [0_i64; 0]);
}

async fn options_that_contradict_themselves_are_refused(db: TestDb<Database>) {
    let broker = connect(&db).await;
    let refused = async |options: SubscribeOptions| match broker.subscribe::<Job>(options).await {
        Err(SqlxBrokerError::Declaration { subscription, table, reason }) => {
            assert_eq!((subscription.as_str(), table.as_str()), ("subscribe", "jobs"));
            reason
        }
        other => panic!("{other:?}"),
    };
    let without_groups = async |options| match broker.subscribe::<BareJob>(options).await {
        Err(SqlxBrokerError::Declaration { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let new = SubscribeOptions::new;
    for (reason, says) in [
        (refused(new()).await, "add `.group(\"..\")`"),
        (refused(work().in_flight(0)).await, "`in_flight` must be at least 1"),
        (refused(work().max_attempts(3)).await, "needs `dead_letter_group`"),
        (refused(work().dead_letter_group("failed")).await, "needs `max_attempts`"),
        (refused(work().max_attempts(0).dead_letter_group("failed")).await, "at least 1"),
        (refused(work().max_attempts(3).dead_letter_group("work")).await, "own group"),
        (refused(work().lease(Duration::from_millis(1))).await, "`lease` must be at least"),
        (refused(work().poll_interval(Duration::ZERO)).await, "`poll_interval` must be at least"),
        (without_groups(new().group("work")).await, "leave `.group(..)` away"),
        (without_groups(new().max_attempts(3)).await, "does not count deliveries"),
        (
            without_groups(new().dead_letter_group("failed")).await,
            "`.dead_letter_table::<DeadEmail>()`",
        ),
        (
            refused(work().max_attempts(3).dead_letter_table::<BareJob>()).await,
            "has a group column",
        ),
    ] {
        assert!(reason.contains(says), "{reason}");
    }
    // Nothing is subscribed by what was refused.
    drop(broker.subscribe::<Job>(work()).await.unwrap());
}

async fn a_table_that_is_dropped_ends_the_stream(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut stream = broker.subscribe::<Job>(work().name("sweeper").in_flight(2)).await.unwrap();
    let delivery = next(&mut stream).await;
    db.execute("DROP TABLE jobs").await;
    let ended = stream.next().await.unwrap().unwrap_err();
    let SqlxBrokerError::Ended { subscription, .. } = &ended else { panic!("{ended}") };
    assert_eq!(subscription, "sweeper");
    assert!(stream.next().await.is_none() && stream.next().await.is_none());
    let refused = delivery.ack().await.unwrap_err();
    assert!(matches!(refused, SqlxBrokerError::Refused { .. }), "{refused}");
}

async fn deliveries_are_worked_on_beside_each_other(db: TestDb<Database>) {
    fn is_send<T: Send>(it: T) -> T {
        it
    }

    let broker = connect(&db).await;
    publish(&db, 200).await;
    let stream = broker.subscribe::<Job>(work().in_flight(16)).await.unwrap();
    let all = is_send(stream.take(200).try_for_each_concurrent(16, async |delivery| {
        delivery.message::<Task>()?;
        delivery.ack().await
    }));
    tokio::spawn(all).await.unwrap().unwrap();
    assert_eq!(left(&db).await, [0_i64; 0]);
}
