//! A table and its subscribers, as a crate of edition 2021 writes them: in generated code the user's
//! tokens are of that edition, and the others of ours.

use chrono::{DateTime, Utc};
use queue_table::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedSender;

/// A row with a column for every role.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
pub struct Job {
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
    /// A data column.
    pub account_id: Option<i64>,
}

/// A message.
#[derive(Debug, Serialize, Deserialize)]
pub struct Email {
    /// Its receiver.
    pub to: String,
}

/// Where the handlers tell what they did.
pub type Log = UnboundedSender<String>;

/// Sends a message; the first attempt fails.
#[subscriber(Job, group = "send", max_attempts = 3, dead_letter(group = "failed"))]
pub async fn send(
    State(log): State<Log>,
    email: &Email,
    Ctx(attempt): Ctx<keys::Attempt>,
    lost: CancellationToken,
) -> Result<(), String> {
    let said = format!("sent to {} in attempt {attempt}, lost: {}", email.to, lost.is_cancelled());
    log.send(said).map_err(|error| error.to_string())?;
    (attempt > 1).then_some(()).ok_or_else(|| "the first attempt fails".to_owned())
}

/// Looks at a row.
#[subscriber(Job, group = "look")]
pub async fn look(job: &Job, log: State<Log>) -> Outcome {
    let said = format!("looked at {:?}", job.account_id);
    match log.0.send(said) {
        Ok(()) => Outcome::ack(),
        Err(error) => Outcome::retry().because(error),
    }
}
