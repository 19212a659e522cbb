//! The tables of the tests again, with the same names, and without a lease: their rows are locked
//! while they are in work.

use chrono::{DateTime, Utc};
use queue_table::prelude::*;

use crate::database::{Db, TestDb};
pub use crate::queue::{Script, Seen, Task, own_group};

/// Holds of every row of `jobs`, because no column says whose it is.
pub const FREE: &str = "true";

/// The same of `kept_jobs`.
pub const KEPT_FREE: &str = "true";

/// The columns of `jobs` that have a role, besides the id, the group and the payload.
pub const COLUMNS: [&str; 3] = ["attempt", "retry_after", "last_error"];

/// A table with every other role, and times of the database's own.
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
    /// The reason.
    #[queue(last_error)]
    pub last_error: Option<String>,
    /// The message.
    #[queue(payload)]
    pub payload: Vec<u8>,
    /// A column of the user's own.
    pub note: Option<String>,
}

/// A table with the fewest roles.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "bare_jobs")]
pub struct BareJob {
    /// The primary key.
    #[queue(id)]
    pub id: String,
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
    /// When it was done.
    #[queue(processed_at)]
    pub done: Option<i64>,
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

/// Whether somebody works on a row of `jobs`, as a value of SQL: 1 or 0.
#[must_use]
pub fn in_work<DB: Db>() -> String {
    "(SELECT 1 - count(*) FROM (SELECT FROM jobs AS l WHERE l.id = jobs.id \
     FOR UPDATE SKIP LOCKED) AS free)"
        .to_owned()
}

/// Makes the three tables, with the indexes of their claims.
pub async fn create_tables<DB: Db>(db: &TestDb<DB>) {
    let (id, time, bytes, first) = (DB::ID, DB::TIME, DB::BYTES, DB::BEFORE_EVERY_TIME);
    db.execute(format!(
        "CREATE TABLE jobs (id {id}, kind text NOT NULL, attempt integer NOT NULL DEFAULT 1, \
         retry_after {time}, last_error text, payload {bytes} NOT NULL, note text);
         CREATE INDEX jobs_ready ON jobs (kind, coalesce(retry_after, {first}), id);
         CREATE TABLE bare_jobs (id text PRIMARY KEY, payload text NOT NULL);
         CREATE TABLE kept_jobs (id {id}, kind text NOT NULL, attempt smallint NOT NULL DEFAULT 1, \
         due bigint NOT NULL DEFAULT 0, done bigint);
         CREATE INDEX kept_jobs_ready ON kept_jobs (kind, due, id) WHERE done IS NULL;"
    ))
    .await;
}
