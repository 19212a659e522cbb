//! Which connections a shutdown leaves to deliveries in the user's hands; only PostgreSQL can tell.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table::{Delivery, DeliveryStream, SubscribeOptions};
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Job, Task, create_tables};

use super::Database;

conformance![
    Database:
    a_shutdown_leaves_one_connection_to_deliveries_in_hand,
    a_connection_that_breaks_after_the_shutdown_is_replaced,
];

const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE application_name = current_setting('application_name')";

/// How many sessions there are besides the test's own.
async fn sessions(db: &TestDb<Database>) -> i64 {
    db.value::<i64>(SESSIONS).await - i64::from(db.pool().size())
}

/// A broker that has several connections, and is shut down with one delivery in hand.
async fn shut_down(
    db: &TestDb<Database>,
) -> (DeliveryStream<Database, Job>, Delivery<Database, Job>) {
    create_tables(db).await;
    let broker = SqlxBroker::<Database>::from_url(db.url()).connect().await.unwrap();
    let publisher = broker.publisher::<Job>();
    eventually("several connections are open", async || {
        // With a data column they are not gathered into one statement.
        let message = || Job::message(&Task { n: 1 }).group("work").set(Job::NOTE, None);
        let (a, b, c) = tokio::join!(
            publisher.publish(message()),
            publisher.publish(message()),
            publisher.publish(message()),
        );
        a.and(b).and(c).unwrap();
        sessions(db).await >= 3
    })
    .await;
    let options = SubscribeOptions::new().group("work").in_flight(2);
    let mut stream = broker.subscribe::<Job>(options).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    let opened = sessions(db).await;
    let closed = broker.shutdown().await;
    assert_eq!(closed.connections_closed, usize::try_from(opened).unwrap() - 1);
    eventually("one connection is left", async || sessions(db).await == 1).await;
    (stream, delivery)
}

async fn a_shutdown_leaves_one_connection_to_deliveries_in_hand(db: TestDb<Database>) {
    let (_stream, delivery) = shut_down(&db).await;
    stays("it lives on", Duration::from_millis(200), async || sessions(&db).await == 1).await;
    delivery.ack().await.unwrap();
    eventually("none is left", async || sessions(&db).await == 0).await;
}

async fn a_connection_that_breaks_after_the_shutdown_is_replaced(db: TestDb<Database>) {
    let (_stream, delivery) = shut_down(&db).await;
    db.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE application_name = current_setting('application_name') \
         AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_stat_activity%'",
    )
    .await;
    delivery.ack().await.unwrap();
    eventually("none is left", async || sessions(&db).await == 0).await;
}
