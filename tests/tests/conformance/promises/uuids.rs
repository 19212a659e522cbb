//! Ids that are `Uuid`s, which the application gives.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use uuid::Uuid;

use super::{Database, broker};

conformance![
    Database:
    rows_with_uuids_are_claimed_in_order_and_settled,
    rows_with_uuids_are_renewed,
];

#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "uuid_jobs")]
struct UuidJob {
    #[queue(id)]
    id: Uuid,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<i64>,
    #[queue(locked_until)]
    until: Option<i64>,
    owner: Option<Uuid>,
}

async fn create_table(db: &TestDb<Database>) {
    let uuid = if Database::BYTES == "bytea" { "uuid" } else { "blob" };
    db.execute(format!(
        "CREATE TABLE uuid_jobs (id {uuid} NOT NULL PRIMARY KEY, \
         attempt integer NOT NULL DEFAULT 1, retry_after bigint, until bigint, owner {uuid});
         CREATE INDEX uuid_jobs_ready ON uuid_jobs (coalesce(retry_after, 0), id);"
    ))
    .await;
}

type Called = (Uuid, Option<Uuid>, i32);

#[subscriber(UuidJob, workers = 1, poll_interval = "50ms")]
async fn owned(
    row: &UuidJob,
    Ctx(id): Ctx<keys::Id<Uuid>>,
    State(told): State<UnboundedSender<Called>>,
) -> Outcome {
    assert_eq!(id, row.id);
    told.send((id, row.owner, row.attempt)).unwrap();
    if row.attempt == 1 { Outcome::retry_after(Duration::from_millis(1)) } else { Outcome::ack() }
}

/// More rows than one claim takes, so that later claims go on behind the last id.
async fn rows_with_uuids_are_claimed_in_order_and_settled(db: TestDb<Database>) {
    const ROWS: u128 = 30;
    create_table(&db).await;
    for n in (1..=ROWS).rev() {
        let (id, owner) = (Uuid::from_u128(n << 64), Uuid::from_u128(n));
        let row = UuidJob::row().id(id).set(UuidJob::OWNER, Some(owner));
        assert_eq!(row.insert(db.pool()).await.unwrap().id, id);
    }
    let (told, mut called) = unbounded_channel::<Called>();
    let service = Service::new("test").state(told).with_broker(broker(&db), |b| {
        b.mount(owned);
    });
    let running = service.start().await.unwrap();
    eventually("all are acked", async || {
        db.value::<i64>("SELECT count(*) FROM uuid_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    let mut fresh = Vec::new();
    let mut again = 0;
    while let Ok((id, owner, attempt)) = called.try_recv() {
        assert_eq!(owner, Some(Uuid::from_u128(id.as_u128() >> 64)));
        match attempt {
            1 => fresh.push(id),
            _ => again += 1,
        }
    }
    let in_order: Vec<_> = (1..=ROWS).map(|n| Uuid::from_u128(n << 64)).collect();
    assert_eq!(fresh, in_order);
    assert_eq!(again, ROWS);
}

#[subscriber(UuidJob, lease = "300ms", poll_interval = "50ms")]
async fn held(lost: CancellationToken, State(told): State<UnboundedSender<bool>>) -> Outcome {
    let lost = tokio::time::timeout(Duration::from_secs(1), lost.cancelled()).await;
    told.send(lost.is_ok()).unwrap();
    Outcome::ack()
}

async fn rows_with_uuids_are_renewed(db: TestDb<Database>) {
    create_table(&db).await;
    UuidJob::row().id(Uuid::from_u128(7)).insert(db.pool()).await.unwrap();
    let (told, mut lost) = unbounded_channel::<bool>();
    let service = Service::new("test").state(told).with_broker(broker(&db), |b| {
        b.mount(held);
    });
    let running = service.start().await.unwrap();
    assert!(!lost.recv().await.unwrap());
    eventually("it is acked", async || {
        db.value::<i64>("SELECT count(*) FROM uuid_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    // Nobody else had it in the three leases that it was held for.
    assert!(lost.try_recv().is_err());
}
