//! Inserting messages: on the service's own pool, and through a broker.

use queue_table::prelude::*;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Job, Task};

use super::super::Database;
use super::ground::{Owner, sweep};
use crate::point::drop_at;

const TASK: Task = Task { n: 1 };

/// On a pool of the user's own, whoever's connection it is.
pub(super) async fn insert_one(db: TestDb<Database>) {
    sweep(db, async |ground, _, point| {
        let pool = ground.pool().await;
        let before = ground.rows().await;
        let message = Job::message(&TASK).group("work");
        let inserted = drop_at(message.insert(&pool), point).await;
        ground.no_slot_is_lost(&pool).await;
        pool.close().await;
        let added = ground.rows().await - before;
        match inserted {
            Some(inserted) => {
                inserted.unwrap();
                assert_eq!(added, 1);
                true
            }
            None => {
                assert!(added <= 1, "{added} rows of one message");
                false
            }
        }
    })
    .await;
}

pub(super) async fn insert_many(db: TestDb<Database>) {
    sweep(db, async |ground, _, point| {
        let pool = ground.pool().await;
        let before = ground.rows().await;
        let messages = Job::messages(&[TASK, TASK, TASK]).group("work");
        let inserted = drop_at(messages.insert(&pool), point).await;
        ground.no_slot_is_lost(&pool).await;
        pool.close().await;
        let added = ground.rows().await - before;
        match inserted {
            Some(inserted) => {
                assert_eq!(inserted.unwrap().ids.len(), 3);
                assert_eq!(added, 3);
                true
            }
            None => {
                assert!(added == 0 || added == 3, "{added} rows: all or none");
                false
            }
        }
    })
    .await;
}

/// Gathered with others, and in a statement of its own; both run to their ends.
pub(super) async fn publish(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        let shared = ground.pool().await;
        let broker = match owner {
            Owner::Broker => ground.broker().connect().await.unwrap(),
            Owner::Service => {
                SqlxBroker::<Database, _>::new(shared.clone()).connect().await.unwrap()
            }
        };
        let publisher = broker.publisher::<Job>();
        let before = ground.rows().await;
        let gathered = Job::message(&TASK).group("work");
        let gathered = drop_at(publisher.publish(gathered), point).await;
        let alone = Job::message(&TASK).group("work").set(Job::NOTE, Some("alone".to_owned()));
        let alone = drop_at(publisher.publish(alone), point).await;
        if point.polls > 0 {
            eventually("both rows are inserted", async || ground.rows().await == before + 2).await;
        }
        // A slot that the drops lost would leave these without one.
        for _ in 0..=ground.connections {
            publisher.publish(Job::message(&TASK).group("work")).await.unwrap();
        }
        broker.shutdown().await;
        ground.no_slot_is_lost(&shared).await;
        shared.close().await;
        gathered.is_some() && alone.is_some()
    })
    .await;
}
