//! The tables of the tests, and a handler that does what a test tells it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use queue_table::prelude::*;
use serde::{Deserialize, Serialize};

use crate::database::{Db, TestDb};

/// Holds of a row of `jobs` that nobody has.
pub const FREE: &str = "locked_until IS NULL";

/// The same of `kept_jobs`.
pub const KEPT_FREE: &str = "until IS NULL";

/// The columns of `jobs` that have a role, besides the id, the group and the payload.
pub const COLUMNS: [&str; 4] = ["attempt", "retry_after", "locked_until", "last_error"];

/// A table with every role, and times of the database's own.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
pub struct Job {
    /// The primary key.
    #[queue(id)]
    pub id: i64,
    /// The group.
    #[queue(group)]
    pub kind: String,
    /// Deliveries.
    #[queue(attempt)]
    pub attempt: i32,
    /// The delay.
    #[queue(retry_after)]
    pub retry_after: Option<DateTime<Utc>>,
    /// The lease.
    #[queue(locked_until)]
    pub locked_until: Option<DateTime<Utc>>,
    /// The reason.
    #[queue(last_error)]
    pub last_error: Option<String>,
    /// The message.
    #[queue(payload)]
    pub payload: Vec<u8>,
    /// A column of the user's own.
    pub note: Option<String>,
}

/// A table with the fewest roles, and times in microseconds.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "bare_jobs")]
pub struct BareJob {
    /// The primary key.
    #[queue(id)]
    pub id: String,
    /// The lease.
    #[queue(locked_until)]
    pub until: Option<i64>,
    /// The message.
    #[queue(payload)]
    pub payload: String,
}

/// A table that keeps what is done, and puts rows off by a column that is never null.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "kept_jobs")]
pub struct KeptJob {
    /// The primary key.
    #[queue(id)]
    pub id: i64,
    /// The group.
    #[queue(group)]
    pub kind: String,
    /// Deliveries.
    #[queue(attempt)]
    pub attempt: i16,
    /// The delay.
    #[queue(retry_after)]
    pub due: i64,
    /// The lease.
    #[queue(locked_until)]
    pub until: Option<i64>,
    /// When it was done.
    #[queue(processed_at)]
    pub done: Option<i64>,
}

/// The message of the tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Which one it is.
    pub n: i64,
}

/// One call of a handler.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Which message, or which row.
    pub n: i64,
    /// The number of the delivery.
    pub attempt: u32,
    /// Fires when the row is lost.
    pub cancellation: CancellationToken,
}

/// What a test wants its handler to do.
#[derive(Clone)]
pub struct Script {
    act: Arc<dyn Fn(Seen) -> BoxFuture<'static, Outcome> + Send + Sync>,
    seen: Arc<Mutex<Vec<(i64, u32)>>>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("seen", &self.seen()).finish_non_exhaustive()
    }
}

impl Script {
    /// A handler that does `act` and notes each call.
    pub fn new<F: Future<Output = Outcome> + Send + 'static>(
        act: impl Fn(Seen) -> F + Send + Sync + 'static,
    ) -> Self {
        Self { act: Arc::new(move |seen| Box::pin(act(seen))), seen: Arc::default() }
    }

    /// A handler that says the same of every row.
    #[must_use]
    pub fn always(outcome: Outcome) -> Self {
        Self::new(move |_| std::future::ready(outcome.clone()))
    }

    /// Each call so far: which message, and the number of the delivery.
    #[must_use]
    pub fn seen(&self) -> Vec<(i64, u32)> {
        self.seen.lock().clone()
    }

    /// Does for a row what the test wants.
    pub async fn act(&self, seen: Seen) -> Outcome {
        self.seen.lock().push((seen.n, seen.attempt));
        (self.act)(seen).await
    }
}

/// Works on `jobs` of group `work` as the test's script says.
#[subscriber(Job, group = "work", poll_interval = "50ms")]
pub async fn scripted(
    task: &Task,
    Ctx(attempt): Ctx<keys::Attempt>,
    State(script): State<Script>,
    cancellation: CancellationToken,
) -> Outcome {
    script.act(Seen { n: task.n, attempt, cancellation }).await
}

/// Works on `bare_jobs` as the test's script says.
#[subscriber(BareJob, poll_interval = "50ms")]
pub async fn scripted_bare(
    task: &Task,
    State(script): State<Script>,
    cancellation: CancellationToken,
) -> Outcome {
    script.act(Seen { n: task.n, attempt: 1, cancellation }).await
}

/// Works on `kept_jobs` of group `work` as the test's script says.
#[subscriber(KeptJob, group = "work", poll_interval = "50ms")]
pub async fn scripted_kept(
    row: &KeptJob,
    Ctx(attempt): Ctx<keys::Attempt>,
    State(script): State<Script>,
    cancellation: CancellationToken,
) -> Outcome {
    script.act(Seen { n: row.id, attempt, cancellation }).await
}

/// A group that no other trial has.
///
/// A process knows its subscriptions by the names of their tables and groups, so trials that run
/// beside each other wake each other. Those that ask who was woken have a group of their own.
#[must_use]
pub fn own_group() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("own {}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether somebody works on a row of `jobs`, as a value of SQL: 1 or 0.
#[must_use]
pub fn in_work<DB: Db>() -> String {
    format!("CASE WHEN locked_until > {} THEN 1 ELSE 0 END", DB::now_plus(0))
}

/// Makes the three tables, with the indexes of their claims.
pub async fn create_tables<DB: Db>(db: &TestDb<DB>) {
    let (id, time, bytes, first) = (DB::ID, DB::TIME, DB::BYTES, DB::BEFORE_EVERY_TIME);
    db.execute(format!(
        "CREATE TABLE jobs (id {id}, kind text NOT NULL, attempt integer NOT NULL DEFAULT 1, \
         retry_after {time}, locked_until {time}, last_error text, payload {bytes} NOT NULL, \
         note text);
         CREATE INDEX jobs_ready ON jobs (kind, coalesce(retry_after, {first}), id);
         CREATE TABLE bare_jobs (id text PRIMARY KEY, until bigint, payload text NOT NULL);
         CREATE TABLE kept_jobs (id {id}, kind text NOT NULL, attempt smallint NOT NULL DEFAULT 1, \
         due bigint NOT NULL DEFAULT 0, until bigint, done bigint);
         CREATE INDEX kept_jobs_ready ON kept_jobs (kind, due, id) WHERE done IS NULL;"
    ))
    .await;
}
