//! The life of a broker: who may subscribe, what a shutdown ends, and what it leaves.

use std::time::Duration;

use futures_util::FutureExt;
use queue_table::prelude::*;
use queue_table::{ConnectedSqlxBroker, DeliveryStream, Error, SubscribeOptions};
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, eventually_within, stays};
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use queue_table_tests::stands::Kind;

use super::{Database, broker, publish};

conformance![
    Database:
    a_group_has_one_subscription_of_a_broker_at_a_time,
    what_a_service_would_subscribe_to_is_not_a_streams,
    a_subscription_that_failed_keeps_nobody_out,
    a_shutdown_ends_the_stream_and_gives_back_what_nobody_took,
    a_delivery_is_settled_after_the_shutdown_while_its_lease_lasts,
    a_delivery_that_is_dropped_after_the_shutdown_is_returned,
    a_lease_is_not_renewed_after_the_shutdown,
    a_claim_on_its_way_at_the_shutdown_is_given_back,
    a_shutdown_that_nobody_waits_for_goes_on,
    publishers_are_refused_after_the_shutdown,
    two_brokers_on_one_pool_know_nothing_of_each_other,
    a_dropped_stream_gives_back_what_nobody_took_and_leaves_the_rest,
    a_dropped_broker_leaves_its_stream,
    a_runtime_that_ends_closes_its_deliveries,
];

fn work() -> SubscribeOptions {
    SubscribeOptions::new().group("work").poll_interval(Duration::from_millis(50))
}

async fn connect(db: &TestDb<Database>) -> ConnectedSqlxBroker<Database> {
    create_tables(db).await;
    broker(db).connect().await.unwrap()
}

type Jobs = DeliveryStream<Database, Job>;

/// The ids of rows, their counts, and whether somebody has them.
async fn rows(db: &TestDb<Database>) -> Vec<(i64, i64, bool)> {
    let now = Database::now_plus(0);
    let rows: Vec<(i64, i64, i64)> = db
        .rows(format!(
            "SELECT id, attempt, CASE WHEN locked_until > {now} THEN 1 ELSE 0 END \
             FROM jobs ORDER BY id"
        ))
        .await;
    rows.into_iter().map(|(id, attempt, leased)| (id, attempt, leased == 1)).collect()
}

#[track_caller]
fn assert_taken(refused: Result<Jobs, SqlxBrokerError>, by: &str) {
    let Err(SqlxBrokerError::AlreadySubscribed { other, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(other, by);
}

async fn a_group_has_one_subscription_of_a_broker_at_a_time(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut first = broker.subscribe::<Job>(work().name("first")).await.unwrap();
    let delivery = first.next().await.unwrap().unwrap();
    assert_taken(broker.subscribe(work()).await, "first");
    drop(broker.subscribe::<Job>(work().group("other")).await.unwrap());
    drop(first);
    // Free at once, although the first has a delivery in hand.
    drop(broker.subscribe::<Job>(work()).await.unwrap());
    delivery.ack().await.unwrap();

    // A stream that has ended by itself keeps its group as well, until it is dropped.
    let mut ended = broker.subscribe::<Job>(work().name("ended")).await.unwrap();
    db.execute("ALTER TABLE jobs RENAME TO jobs_away").await;
    assert!(ended.next().await.unwrap().is_err() && ended.next().await.is_none());
    db.execute("ALTER TABLE jobs_away RENAME TO jobs").await;
    assert_taken(broker.subscribe(work()).await, "ended");
    drop(ended);
    drop(broker.subscribe::<Job>(work()).await.unwrap());
}

async fn what_a_service_would_subscribe_to_is_not_a_streams(db: TestDb<Database>) {
    let broker = connect(&db).await;
    let mut stream = broker.subscribe::<Job>(work().name("mine")).await.unwrap();
    let service = Service::new("test").state(Script::always(Outcome::ack()));
    let service = service.with_broker(broker, |b| {
        b.mount(scripted);
    });
    let Err(Error::StartUp { errors, .. }) = service.start().await else { panic!() };
    let [SqlxBrokerError::AlreadySubscribed { subscription, other, .. }] = &errors[..] else {
        panic!("{errors:?}")
    };
    assert_eq!((subscription.as_str(), other.as_str()), ("scripted", "mine"));
    // The service that did not start has shut its broker down.
    assert!(stream.next().await.is_none());
}

async fn a_subscription_that_failed_keeps_nobody_out(db: TestDb<Database>) {
    let broker = broker(&db).connect().await.unwrap();
    let missing = broker.subscribe::<Job>(work()).await.unwrap_err();
    assert!(matches!(missing, SqlxBrokerError::Schema { .. }), "{missing}");
    create_tables(&db).await;
    drop(broker.subscribe::<Job>(work()).await.unwrap());
}

async fn a_shutdown_ends_the_stream_and_gives_back_what_nobody_took(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 3).await;
    let mut stream = broker.subscribe::<Job>(work().in_flight(3)).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    let all = [(1, 2, true), (2, 2, true), (3, 2, true)];
    eventually("all are claimed", async || rows(&db).await == all).await;
    // It does not wait for the delivery, whose lease has half a minute to go.
    let shutdown = broker.shutdown().now_or_never();
    assert!(shutdown.is_none());
    eventually_within(Duration::from_secs(5), "the others are given back", async || {
        rows(&db).await == [(1, 2, true), (2, 1, false), (3, 1, false)]
    })
    .await;
    assert!(stream.next().await.is_none() && stream.next().await.is_none());
    delivery.ack().await.unwrap();
    assert_eq!(rows(&db).await.len(), 2);
}

async fn a_delivery_is_settled_after_the_shutdown_while_its_lease_lasts(db: TestDb<Database>) {
    for shared in [false, true] {
        create_tables_once(&db).await;
        db.execute("DELETE FROM jobs").await;
        publish(&db, 3).await;
        let broker = match shared {
            false => broker(&db).connect().await.unwrap(),
            true => SqlxBroker::<Database, _>::new(db.pool().clone()).connect().await.unwrap(),
        };
        let mut stream = broker.subscribe::<Job>(work().in_flight(3)).await.unwrap();
        let first = stream.next().await.unwrap().unwrap();
        let second = stream.next().await.unwrap().unwrap();
        let third = stream.next().await.unwrap().unwrap();
        broker.shutdown().await;
        assert!(stream.next().await.is_none());
        drop(stream);
        first.ack().await.unwrap();
        second.retry().await.unwrap();
        third.retry_after(Duration::from_secs(60)).await.unwrap();
        assert_eq!(rows(&db).await, [(2, 2, false), (3, 2, false)]);
    }
}

async fn create_tables_once(db: &TestDb<Database>) {
    if sqlx::raw_sql("SELECT 1 FROM jobs").execute(db.pool()).await.is_err() {
        create_tables(db).await;
    }
}

async fn a_delivery_that_is_dropped_after_the_shutdown_is_returned(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 1).await;
    let mut stream = broker.subscribe::<Job>(work()).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    broker.shutdown().await;
    drop(delivery);
    eventually("it is free, and counted", async || rows(&db).await == [(1, 2, false)]).await;
}

async fn a_lease_is_not_renewed_after_the_shutdown(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 2).await;
    let options = work().name("mine").in_flight(2).lease(Duration::from_millis(500));
    let mut stream = broker.subscribe::<Job>(options).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    let other = stream.next().await.unwrap().unwrap();
    let cancellation = other.cancellation();
    broker.shutdown().await;
    // The token fires when the lease has ended, whoever has the row then.
    cancellation.cancelled().await;
    assert_eq!(rows(&db).await, [(1, 2, false), (2, 2, false)]);
    let lost = delivery.ack().await.unwrap_err();
    let SqlxBrokerError::LeaseLost { subscription, id, .. } = &lost else { panic!("{lost}") };
    assert_eq!((subscription.as_str(), id.as_str()), ("mine", "1"));
    drop(other);
    assert_eq!(rows(&db).await.len(), 2);
}

/// Keeps everybody else from changing rows, and nobody from reading them.
const HOLD: &str = match Database::KIND {
    Kind::Postgres => "BEGIN; LOCK TABLE jobs IN EXCLUSIVE MODE",
    Kind::Sqlite => "BEGIN IMMEDIATE",
};

async fn a_claim_on_its_way_at_the_shutdown_is_given_back(db: TestDb<Database>) {
    let broker = connect(&db).await;
    let mut stream = broker.subscribe::<Job>(work().in_flight(8)).await.unwrap();
    let mut holder = db.pool().acquire().await.unwrap();
    sqlx::raw_sql(HOLD).execute(&mut *holder).await.unwrap();
    let tasks: Vec<_> = (1..=3).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=3).insert(&mut *holder).await.unwrap();
    // Some polls: a claim waits for the lock, and will find the rows.
    stays("nothing comes", Duration::from_millis(200), async || {
        stream.next().now_or_never().is_none()
    })
    .await;
    let shutdown = tokio::spawn(broker.shutdown());
    assert!(stream.next().await.is_none(), "the stream ends at once");
    sqlx::raw_sql("COMMIT").execute(&mut *holder).await.unwrap();
    drop(holder);
    shutdown.await.unwrap();
    assert_eq!(rows(&db).await, [(1, 1, false), (2, 1, false), (3, 1, false)]);
}

async fn a_shutdown_that_nobody_waits_for_goes_on(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 2).await;
    let mut stream = broker.subscribe::<Job>(work().in_flight(2)).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    eventually("both are claimed", async || rows(&db).await.iter().all(|row| row.2)).await;
    assert!(broker.shutdown().now_or_never().is_none());
    eventually("one is given back", async || rows(&db).await == [(1, 2, true), (2, 1, false)])
        .await;
    delivery.ack().await.unwrap();
    assert!(stream.next().await.is_none());
}

async fn publishers_are_refused_after_the_shutdown(db: TestDb<Database>) {
    create_tables(&db).await;
    let own = broker(&db).connect().await.unwrap();
    let shared = SqlxBroker::<Database, _>::new(db.pool().clone()).connect().await.unwrap();
    for broker in [own, shared] {
        let publisher = broker.publisher::<Job>();
        let message = || Job::message(&Task { n: 1 }).group("work");
        publisher.publish(message()).await.unwrap();
        broker.shutdown().await;
        let refused = publisher.publish(message()).await.unwrap_err();
        assert!(matches!(refused, SqlxBrokerError::Closed), "{refused}");
        let refused = publisher.clone().publish(message()).await.unwrap_err();
        assert!(matches!(refused, SqlxBrokerError::Closed), "{refused}");
    }
    assert_eq!(rows(&db).await.len(), 2);
    // What is no publisher of a broker goes on.
    Job::message(&Task { n: 1 }).group("work").insert(db.pool()).await.unwrap();
}

async fn two_brokers_on_one_pool_know_nothing_of_each_other(db: TestDb<Database>) {
    create_tables(&db).await;
    let connected = async || {
        let broker = SqlxBroker::<Database, _>::new(db.pool().clone());
        broker.connect().await.unwrap()
    };
    let (one, two) = (connected().await, connected().await);
    let mut of_one = one.subscribe::<Job>(work()).await.unwrap();
    let mut of_two = two.subscribe::<Job>(work()).await.unwrap();
    let publisher = two.publisher::<Job>();
    one.shutdown().await;
    assert!(of_one.next().await.is_none());
    publisher.publish(Job::message(&Task { n: 1 }).group("work")).await.unwrap();
    of_two.next().await.unwrap().unwrap().ack().await.unwrap();
    assert_eq!(rows(&db).await, []);
    two.shutdown().await;
    assert!(of_two.next().await.is_none());
}

async fn a_dropped_stream_gives_back_what_nobody_took_and_leaves_the_rest(db: TestDb<Database>) {
    let broker = connect(&db).await;
    publish(&db, 3).await;
    let options = work().in_flight(3).lease(Duration::from_millis(500));
    let mut stream = broker.subscribe::<Job>(options).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    eventually("all are claimed", async || rows(&db).await.iter().all(|row| row.2)).await;
    drop(stream);
    eventually("the others are given back", async || {
        rows(&db).await == [(1, 2, true), (2, 1, false), (3, 1, false)]
    })
    .await;
    // Its broker is still there, and so is its lease.
    stays("the delivery keeps its row", Duration::from_millis(700), async || {
        rows(&db).await[0] == (1, 2, true)
    })
    .await;
    delivery.ack().await.unwrap();
    assert_eq!(rows(&db).await.len(), 2);
    broker.shutdown().await;
}

async fn a_dropped_broker_leaves_its_stream(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    let mut stream = broker(&db).connect().await.unwrap().subscribe::<Job>(work()).await.unwrap();
    for n in 1..=2 {
        let delivery = stream.next().await.unwrap().unwrap();
        assert_eq!(*delivery.id(), n);
        delivery.ack().await.unwrap();
    }
    assert_eq!(rows(&db).await, []);
}

async fn a_runtime_that_ends_closes_its_deliveries(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let other = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let broker = broker(&db);
    let opened = other.spawn(async move {
        let broker = broker.connect().await.unwrap();
        let mut stream = broker.subscribe::<Job>(work().in_flight(2)).await.unwrap();
        let first = stream.next().await.unwrap().unwrap();
        let second = stream.next().await.unwrap().unwrap();
        (broker, stream, first, second)
    });
    let (broker, mut stream, first, second) = opened.await.unwrap();
    other.shutdown_background();
    let closed = first.ack().await.unwrap_err();
    assert!(matches!(closed, SqlxBrokerError::Closed), "{closed}");
    assert!(stream.next().await.is_none());
    // Its lease ends, as after a crash.
    drop(second);
    drop((broker, stream));
}
