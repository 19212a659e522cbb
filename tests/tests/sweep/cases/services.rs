//! Starting a service, running it, and stopping it.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table::{ConnectedSqlxBroker, Error};
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Script, scripted};
use sqlx::Pool;

use super::super::Database;
use super::ground::{Ground, Owner, sweep};
use crate::point::drop_at;

/// Long enough for handlers to be told, short enough to wait for.
const DRAIN: Duration = Duration::from_millis(50);

/// Rows that cannot be written any more wait for its end.
const LEASE: Duration = Duration::from_millis(250);

const AWAY: &str = "ALTER TABLE jobs RENAME TO jobs_away";
const BACK: &str = "ALTER TABLE jobs_away RENAME TO jobs";

pub(super) async fn start(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        ground.publish(3).await;
        let script = half_of_them(&CancellationToken::new());
        let (service, shared) = service(ground, owner, &script).await;
        let started = drop_at(service.start(), point).await;
        let is_ready = started.is_some();
        if let Some(running) = started {
            let running = running.unwrap();
            eventually("rows are delivered", async || !script.seen().is_empty()).await;
            running.shutdown().await.unwrap();
        } else {
            let claimed = "SELECT count(*) FROM jobs WHERE locked_until IS NOT NULL";
            assert_eq!(script.seen(), [], "rows were delivered");
            assert_eq!(ground.db.value::<i64>(claimed).await, 0, "rows were claimed");
        }
        ground.no_slot_is_lost(&shared).await;
        shared.close().await;
        ground.only_our_sessions_are_left().await;
        ground.db.execute("DELETE FROM jobs").await;
        is_ready
    })
    .await;
}

/// Ends by itself, because its table is gone: a signal would end every test of the process.
pub(super) async fn run(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        ground.publish(3).await;
        let delivered = CancellationToken::new();
        let script = half_of_them(&delivered);
        let (service, shared) = service(ground, owner, &script).await;
        let end = CancellationToken::new();
        let renamed = tokio::spawn(table_goes_away(ground.db.clone(), delivered, end.clone()));
        let ended = drop_at(service.run(), point).await;
        end.cancel();
        if renamed.await.unwrap() {
            ground.db.execute(BACK).await;
        }
        ground.no_slot_is_lost(&shared).await;
        shared.close().await;
        let Some(ended) = ended else { return false };
        assert!(matches!(ended, Err(Error::Subscription { .. })), "{ended:?}");
        true
    })
    .await;
}

pub(super) async fn stopped(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        ground.publish(3).await;
        let delivered = CancellationToken::new();
        let script = half_of_them(&delivered);
        let (service, shared) = service(ground, owner, &script).await;
        let mut running = service.start().await.unwrap();
        let never = CancellationToken::new();
        let renamed = tokio::spawn(table_goes_away(ground.db.clone(), delivered, never));
        let ended = drop_at(running.stopped(), point).await;
        let is_ready = ended.is_some();
        // Nothing is lost with the future: the next one tells the same.
        let ended = match ended {
            Some(ended) => ended,
            None => running.stopped().await,
        };
        assert!(matches!(ended, Err(Error::Subscription { .. })), "{ended:?}");
        assert!(renamed.await.unwrap());
        ground.db.execute(BACK).await;
        ground.no_slot_is_lost(&shared).await;
        shared.close().await;
        is_ready
    })
    .await;
}

pub(super) async fn shutdown(db: TestDb<Database>) {
    sweep(db, async |ground, owner, point| {
        ground.publish(3).await;
        let script = half_of_them(&CancellationToken::new());
        let (service, shared) = service(ground, owner, &script).await;
        let running = service.start().await.unwrap();
        eventually("rows are delivered", async || script.seen().len() >= 2).await;
        let ended = drop_at(running.shutdown(), point).await;
        let is_ready = ended.map(Result::unwrap).is_some();
        ground.no_slot_is_lost(&shared).await;
        shared.close().await;
        if owner == Owner::Broker {
            ground.only_our_sessions_are_left().await;
        }
        is_ready
    })
    .await;
}

/// Acks even messages, and works on odd ones until it is told to end. Says when it has some.
fn half_of_them(delivered: &CancellationToken) -> Script {
    let delivered = delivered.clone();
    Script::new(move |seen| {
        delivered.cancel();
        async move {
            if seen.n % 2 == 0 {
                return Outcome::ack();
            }
            seen.cancellation.cancelled().await;
            Outcome::retry_after(Duration::ZERO)
        }
    })
}

/// A service on one broker, and the pool that is the service's own.
async fn service(ground: &Ground, owner: Owner, script: &Script) -> (Service, Pool<Database>) {
    let shared = ground.pool().await;
    let service = Service::new("swept").state(script.clone()).drain_timeout(DRAIN);
    let mount = |b: &mut queue_table::Mounts<Database>| {
        b.mount(scripted.lease(LEASE));
    };
    let service = match owner {
        Owner::Broker => service.with_broker(ground.broker(), mount),
        Owner::Service => {
            let broker = SqlxBroker::<Database, _>::new(shared.clone());
            let broker: ConnectedSqlxBroker<Database> = broker.connect().await.unwrap();
            service.with_broker(broker, mount)
        }
    };
    (service, shared)
}

/// Takes the table away once rows are delivered. `false`: it was told to end before.
async fn table_goes_away(
    db: TestDb<Database>,
    delivered: CancellationToken,
    end: CancellationToken,
) -> bool {
    tokio::select! {
        () = end.cancelled() => false,
        () = delivered.cancelled() => {
            db.execute(AWAY).await;
            true
        }
    }
}
