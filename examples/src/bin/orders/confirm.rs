//! The queue table and its handler.

use std::time::Duration;

use chrono::{DateTime, Utc};
use queue_table::prelude::*;
use sqlx::PgPool;

/// An order to be confirmed. There is no payload: handlers take the row.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "order_jobs")]
pub(crate) struct OrderJob {
    #[queue(id)]
    id: i64,
    /// `confirm`, or `failed` for dead letters.
    #[queue(group)]
    kind: String,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<DateTime<Utc>>,
    #[queue(locked_until)]
    locked_until: Option<DateTime<Utc>>,
    #[queue(last_error)]
    last_error: Option<String>,
    pub(crate) order_id: i64,
}

/// Confirms an order. Done twice it is the same, because a row is delivered at least once.
#[subscriber(
    OrderJob,
    group = "confirm",
    workers = 4,
    timeout = "30s",
    max_attempts = 5,
    dead_letter(group = "failed"),
    on_error = later
)]
pub(crate) async fn confirm(job: &OrderJob, State(pool): State<PgPool>) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE orders SET confirmed_at = coalesce(confirmed_at, now()) WHERE id = $1")
        .bind(job.order_id)
        .execute(&pool)
        .await
        .map(drop)
}

/// Most of what goes wrong with a database passes: the row comes back, each time a little later.
fn later(error: &sqlx::Error, meta: &Meta) -> Outcome {
    Outcome::retry_after(Duration::from_secs(1) * 2_u32.pow(meta.attempt().min(8))).because(error)
}
