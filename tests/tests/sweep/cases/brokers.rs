//! Connecting a broker, and shutting it down.

use futures_util::future::join_all;
use queue_table::prelude::*;
use queue_table::{ConnectedSqlxBroker, Publisher, SubscribeOptions};
use queue_table_tests::database::TestDb;
use queue_table_tests::queue::{Job, Task};

use super::super::Database;
use super::ground::{Owner, sweep};
use crate::point::drop_at;

pub(super) async fn connect(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| match owner {
        Owner::Broker => {
            let connected = drop_at(ground.broker().connect(), point).await;
            let is_ready = connected.is_some();
            if let Some(connected) = connected {
                connected.unwrap().shutdown().await;
            }
            ground.only_our_sessions_are_left().await;
            is_ready
        }
        Owner::Service => {
            let pool = ground.pool().await;
            let broker = SqlxBroker::<Database, _>::new(pool.clone());
            let connected = drop_at(broker.connect(), point).await;
            ground.no_slot_is_lost(&pool).await;
            pool.close().await;
            connected.map(Result::unwrap).is_some()
        }
    })
    .await;
}

pub(super) async fn shutdown(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        let shared = ground.pool().await;
        let broker = match owner {
            Owner::Broker => ground.broker().connect().await.unwrap(),
            Owner::Service => {
                SqlxBroker::<Database, _>::new(shared.clone()).connect().await.unwrap()
            }
        };
        let publisher = busy(&broker, ground.connections).await;
        let options = SubscribeOptions::new().group("work").in_flight(2);
        let mut stream = broker.subscribe::<Job>(options).await.unwrap();
        let delivery = stream.next().await.unwrap().unwrap();
        // On its way while the broker is shut down: its connection is not idle then.
        let under_way = tokio::spawn({
            let publisher = publisher.clone();
            async move { one(&publisher).await }
        });
        tokio::task::yield_now().await;
        let is_ready = drop_at(broker.shutdown(), point).await.is_some();
        let under_way = under_way.await.unwrap();
        assert!(matches!(under_way, Ok(()) | Err(SqlxBrokerError::Closed)), "{under_way:?}");
        if point.polls > 0 {
            let refused = one(&publisher).await.unwrap_err();
            assert!(matches!(refused, SqlxBrokerError::Closed), "{refused}");
            assert!(stream.next().await.is_none(), "the stream goes on");
        }
        // Whatever became of the shutdown, it is settled.
        delivery.ack().await.unwrap();
        drop(stream);
        ground.is_sound().await;
        ground.no_slot_is_lost(&shared).await;
        shared.close().await;
        // The publisher is still there, as it would be in a service that goes on.
        if point.polls > 0 {
            ground.only_our_sessions_are_left().await;
        }
        drop(publisher);
        ground.only_our_sessions_are_left().await;
        is_ready
    })
    .await;
}

/// Has every connection of a broker opened.
async fn busy(
    broker: &ConnectedSqlxBroker<Database>,
    connections: u32,
) -> Publisher<Database, Job> {
    let publisher = broker.publisher::<Job>();
    for published in join_all((0..connections).map(|_| one(&publisher))).await {
        published.unwrap();
    }
    publisher
}

/// A message with a data column is not gathered with others, so it needs a connection for itself.
async fn one(publisher: &Publisher<Database, Job>) -> Result<(), SqlxBrokerError> {
    let message =
        Job::message(&Task { n: 1 }).group("work").set(Job::NOTE, Some("alone".to_owned()));
    publisher.publish(message).await.map(drop)
}
