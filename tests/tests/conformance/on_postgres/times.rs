//! Times as the crate `time` has them.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use sqlx::Postgres;
use time::OffsetDateTime;

conformance![Postgres: offset_date_times_hold_delays_leases_and_what_is_done];

#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "timed_jobs")]
struct TimedJob {
    #[queue(id)]
    id: i64,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<OffsetDateTime>,
    #[queue(locked_until)]
    until: Option<OffsetDateTime>,
    #[queue(processed_at)]
    done: Option<OffsetDateTime>,
    placed: OffsetDateTime,
}

#[subscriber(TimedJob, poll_interval = "50ms")]
async fn timed(row: &TimedJob) -> Outcome {
    assert!(row.until.unwrap() > row.placed && row.done.is_none());
    assert_eq!(row.retry_after.is_some(), row.attempt == 2);
    if row.attempt == 1 { Outcome::retry_after(Duration::from_millis(50)) } else { Outcome::ack() }
}

async fn offset_date_times_hold_delays_leases_and_what_is_done(db: TestDb<sqlx::Postgres>) {
    db.execute(
        "CREATE TABLE timed_jobs (id bigint PRIMARY KEY, attempt integer NOT NULL DEFAULT 1, \
         retry_after timestamptz, until timestamptz, done timestamptz, placed timestamptz NOT NULL);
         CREATE INDEX timed_jobs_ready ON timed_jobs (coalesce(retry_after, '-infinity'), id)
         WHERE done IS NULL;",
    )
    .await;
    let placed = OffsetDateTime::from_unix_timestamp(1).unwrap();
    for id in 1..=3 {
        let row = TimedJob::row().id(id).set(TimedJob::PLACED, placed);
        row.insert(db.pool()).await.unwrap();
    }
    let broker = SqlxBroker::<sqlx::Postgres>::from_url(db.url());
    let service = Service::new("test").with_broker(broker, |b| {
        b.mount(timed);
    });
    let running = service.start().await.unwrap();
    eventually("all are done, in their second delivery", async || {
        let done = "SELECT count(*) FROM timed_jobs WHERE done IS NOT NULL AND attempt = 3";
        db.value::<i64>(done).await == 3
    })
    .await;
    running.shutdown().await.unwrap();
}
