//! Subscribing without a handler, waiting for a row, and settling it.

use std::time::Duration;

use queue_table::{ConnectedSqlxBroker, Delivery, DeliveryStream, SqlxBroker, SqlxBrokerError};
use queue_table::{SubscribeOptions, TableOn};
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::Job;
use sqlx::Pool;

use super::super::Database;
use super::ground::{Ground, Owner, sweep};
use crate::point::drop_at;

pub(super) async fn subscribe(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        ground.publish(3).await;
        let (broker, shared) = connected(ground, owner).await;
        let subscribed = drop_at(broker.subscribe::<Job>(options()), point).await;
        let is_ready = subscribed.is_some();
        if let Some(stream) = subscribed {
            taken(&mut stream.unwrap()).await.ack().await.unwrap();
        } else {
            let claimed = "SELECT count(*) FROM jobs WHERE locked_until IS NOT NULL";
            assert_eq!(ground.db.value::<i64>(claimed).await, 0, "rows were claimed");
            // The group is free.
            drop(broker.subscribe::<Job>(options()).await.unwrap());
        }
        ends(ground, broker, &shared).await;
        is_ready
    })
    .await;
}

pub(super) async fn next(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        ground.publish(3).await;
        let (broker, shared) = connected(ground, owner).await;
        let mut stream = broker.subscribe::<Job>(options()).await.unwrap();
        let polled = drop_at(stream.next(), point).await;
        let is_ready = polled.is_some();
        // A row that came meanwhile is the next one that is taken.
        let first = match polled {
            Some(delivery) => delivery.unwrap().unwrap(),
            None => taken(&mut stream).await,
        };
        let second = taken(&mut stream).await;
        assert_eq!(*second.id(), first.id() + 1, "a row was lost on its way");
        first.ack().await.unwrap();
        drop(second);
        ends(ground, broker, &shared).await;
        is_ready
    })
    .await;
}

/// Sweeps a settlement. `settled` holds when it is in the table.
pub(super) async fn settle<F>(
    db: TestDb<Database>,
    settle: impl Fn(Delivery<Database, Job>) -> F,
    settled: &str,
) where
    F: Future<Output = Result<(), SqlxBrokerError>>,
{
    let now = Database::now_plus(0);
    let returned = format!(
        "SELECT count(*) FROM jobs WHERE attempt = 2 AND locked_until <= {now} \
         AND retry_after IS NULL"
    );
    sweep(db, async |ground, owner, point| {
        ground.publish(1).await;
        let (broker, shared) = connected(ground, owner).await;
        let mut stream = broker.subscribe::<Job>(options().in_flight(1)).await.unwrap();
        let delivery = taken(&mut stream).await;
        // What comes back is not claimed again.
        drop(stream);
        let answer = drop_at(settle(delivery), point).await;
        let is_ready = answer.map(Result::unwrap).is_some();
        let holds = async |what: &str| ground.db.value::<i64>(what).await == 1;
        if is_ready {
            assert!(holds(settled).await, "it is not in the table");
        } else if point.polls == 0 {
            eventually("the row is returned", async || holds(&returned).await).await;
        } else {
            eventually("it is written all the same", async || holds(settled).await).await;
        }
        ends(ground, broker, &shared).await;
        is_ready
    })
    .await;
}

fn options() -> SubscribeOptions {
    let poll = Duration::from_millis(20);
    SubscribeOptions::new().group("work").poll_interval(poll).in_flight(2)
}

/// A broker, and the pool that is the service's own.
async fn connected(
    ground: &Ground,
    owner: Owner,
) -> (ConnectedSqlxBroker<Database>, Pool<Database>) {
    let shared = ground.pool().await;
    let broker = match owner {
        Owner::Broker => ground.broker().connect().await,
        Owner::Service => SqlxBroker::<Database, _>::new(shared.clone()).connect().await,
    };
    (broker.unwrap(), shared)
}

async fn taken<T: TableOn<Database>>(
    stream: &mut DeliveryStream<Database, T>,
) -> Delivery<Database, T> {
    stream.next().await.unwrap().unwrap()
}

/// Shuts the broker down: nothing of it is left, and no row.
async fn ends(ground: &Ground, broker: ConnectedSqlxBroker<Database>, shared: &Pool<Database>) {
    broker.shutdown().await;
    ground.no_slot_is_lost(shared).await;
    shared.close().await;
    ground.db.execute("DELETE FROM jobs").await;
    ground.only_our_sessions_are_left().await;
}
