//! Everything that can be said, on both databases.

use std::time::Duration;

use chrono::{DateTime, Utc};
use queue_table::prelude::*;
use queue_table_ui_tests::{Email, on_postgres, on_sqlite};

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "email_jobs", schema = "app")]
#[sqlx(rename_all = "camelCase")]
pub(crate) struct EmailJob {
    #[queue(id)]
    id: i64,
    #[queue(group)]
    kind: String,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<DateTime<Utc>>,
    #[queue(locked_until)]
    locked_until: Option<DateTime<Utc>>,
    #[queue(processed_at)]
    processed_at: Option<DateTime<Utc>>,
    #[queue(last_error)]
    last_error: Option<String>,
    #[queue(payload)]
    payload: Vec<u8>,
    account_id: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct Refused;

fn settle(_: &Refused, meta: &Meta) -> Outcome {
    if meta.attempt() < 3 { Outcome::retry() } else { Outcome::drop() }
}

#[subscriber(
    EmailJob,
    group = "welcome",
    workers = 16,
    poll_interval = "1s",
    lease = "30s",
    timeout = "2min",
    max_attempts = 5,
    dead_letter(group = "failed"),
    on_error = settle,
    on_decode_failure = retry_after("60s"),
)]
pub(crate) async fn send(
    Ctx(attempt): Ctx<keys::Attempt>,
    email: &Email,
    State(limit): State<u32>,
    lost: CancellationToken,
) -> Result<(), Refused> {
    let is_for_us = !email.to.is_empty() && attempt < limit && !lost.is_cancelled();
    is_for_us.then_some(()).ok_or(Refused)
}

#[subscriber(EmailJob, group = "failed", on_decode_failure = drop)]
async fn look(job: &EmailJob) -> Outcome {
    Outcome::retry_after(Duration::from_secs(1)).because(job.account_id.unwrap_or_default())
}

#[subscriber(EmailJob, group = "ticks")]
async fn tick() {}

#[test]
fn all_of_them_can_be_mounted() {
    on_sqlite(|b| {
        b.mount(send);
        b.mount(look.workers(2));
        b.mount(tick);
    });
    on_postgres(|b| {
        b.mount(send.group("vip").workers(2));
        b.mount(look);
    });
}
