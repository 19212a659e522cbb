//! Tables without groups, each with a table for its dead letters.

use chrono::{DateTime, Utc};
use queue_table::prelude::*;

use crate::database::{Db, TestDb};
use crate::queue::{Script, Seen, Task};
use crate::stands::Kind;

/// A row of `errands`, which has every role but a group, and a column of the user's own.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "errands")]
pub struct Errand {
    /// The primary key.
    #[queue(id)]
    pub id: i64,
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

/// A dead letter of `errands`.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "dead_errands")]
pub struct DeadErrand {
    /// The primary key.
    #[queue(id)]
    pub id: i64,
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

/// A row of `Odd "errands"`: text ids, done rows are kept, a delay that is never null, and names that
/// need their quotes.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "Odd \"errands\"")]
pub struct OddErrand {
    /// The primary key.
    #[queue(id)]
    #[sqlx(rename = "select")]
    pub id: String,
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
    #[sqlx(rename = "done \"at\"")]
    pub done: Option<i64>,
    /// A column of the user's own.
    #[sqlx(rename = "from")]
    pub from: i64,
}

/// A dead letter of `Odd "errands"`.
#[derive(Debug, Clone, QueueTable, sqlx::FromRow)]
#[queue_table(name = "moved")]
pub struct DeadOddErrand {
    /// The primary key.
    #[queue(id)]
    #[sqlx(rename = "select")]
    pub id: String,
    /// Deliveries.
    #[queue(attempt)]
    pub attempt: i16,
    /// The delay.
    #[queue(retry_after)]
    pub due: i64,
    /// The lease.
    #[queue(locked_until)]
    pub until: Option<i64>,
}

/// Works on `errands` as the test's script says.
#[subscriber(Errand, poll_interval = "50ms")]
pub async fn run_errand(
    task: &Task,
    Ctx(attempt): Ctx<keys::Attempt>,
    State(script): State<Script>,
    cancellation: CancellationToken,
) -> Outcome {
    script.act(Seen { n: task.n, attempt, cancellation }).await
}

/// Works on `Odd "errands"` as the test's script says.
#[subscriber(OddErrand, poll_interval = "50ms")]
pub async fn run_odd_errand(
    row: &OddErrand,
    Ctx(attempt): Ctx<keys::Attempt>,
    State(script): State<Script>,
    cancellation: CancellationToken,
) -> Outcome {
    script.act(Seen { n: row.from, attempt, cancellation }).await
}

/// Makes the four tables. Those of dead letters have a column more.
pub async fn create_errands<DB: Db>(db: &TestDb<DB>) {
    let (id, time, bytes, first) = (DB::ID, DB::TIME, DB::BYTES, DB::BEFORE_EVERY_TIME);
    let errand = format!(
        "id {id}, attempt integer NOT NULL DEFAULT 1, retry_after {time}, locked_until {time}, \
         last_error text, payload {bytes} NOT NULL, note text"
    );
    let odd = "\"select\" text PRIMARY KEY, attempt smallint NOT NULL DEFAULT 1, \
         due bigint NOT NULL DEFAULT 0, until bigint, \"done \"\"at\"\"\" bigint, \
         \"from\" bigint NOT NULL";
    db.execute(format!(
        "CREATE TABLE errands ({errand});
         CREATE INDEX errands_ready ON errands (coalesce(retry_after, {first}), id);
         CREATE TABLE dead_errands ({errand}, died text NOT NULL DEFAULT 'now');
         CREATE TABLE \"Odd \"\"errands\"\"\" ({odd});
         CREATE TABLE moved ({odd}, died text)"
    ))
    .await;
}

/// Puts fresh rows into `errands`, with messages and ids from `first` on, and notes that say them.
pub async fn publish_errands<DB: Db>(db: &TestDb<DB>, first: i64, rows: i64) {
    publish_counted(db, first, rows, 1).await;
}

/// The same, of which so many deliveries were counted and never came to an end.
pub async fn publish_unended<DB: Db>(db: &TestDb<DB>, first: i64, rows: i64, deliveries: i64) {
    publish_counted(db, first, rows, deliveries + 1).await;
}

async fn publish_counted<DB: Db>(db: &TestDb<DB>, first: i64, rows: i64, attempt: i64) {
    let row = |n: i64| {
        let json = format!("'{{\"n\":{n}}}'");
        let payload = match DB::KIND {
            Kind::Postgres => format!("convert_to({json}, 'UTF8')"),
            Kind::Sqlite => format!("CAST({json} AS blob)"),
        };
        format!("({n}, {attempt}, {payload}, 'note {n}')")
    };
    let rows: Vec<_> = (first..first + rows).map(row).collect();
    let rows = rows.join(", ");
    db.execute(format!("INSERT INTO errands (id, attempt, payload, note) VALUES {rows}")).await;
}
