//! The queue table, and how the events become its rows.

use chrono::{DateTime, Utc};
use queue_table::prelude::*;

use crate::Result;
use crate::database::{Database, on};
use crate::events::{Event, Events};

/// A row of the queue: an event to be stored, or to be told of.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
pub(crate) struct Job {
    #[queue(id)]
    id: i64,
    /// `store`, `alert`, or `dead` for dead letters.
    #[queue(group)]
    kind: String,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<DateTime<Utc>>,
    #[queue(locked_until)]
    locked_until: Option<DateTime<Utc>>,
    /// With this column a row that is done stays, and can be counted.
    #[queue(processed_at)]
    processed_at: Option<DateTime<Utc>>,
    #[queue(last_error)]
    last_error: Option<String>,
    #[queue(payload)]
    payload: Vec<u8>,
    /// Not the queue's: the event that the row is about, null for a line that is none.
    event: Option<String>,
}

/// How many rows one statement inserts; SQLite takes no more than 32 702 values in one.
const CHUNK: usize = 5000;

pub(crate) async fn create(database: &Database) -> Result<()> {
    match database {
        Database::Sqlite(pool) => {
            sqlx::raw_sql(include_str!("tables-sqlite.sql")).execute(pool).await?;
        }
        Database::Postgres(pool) => {
            sqlx::raw_sql(include_str!("tables-postgres.sql")).execute(pool).await?;
        }
    }
    Ok(())
}

/// Puts every event into the queue, in one transaction: a file is loaded as a whole or not at all.
pub(crate) async fn load(database: &Database, events: &Events) -> Result<()> {
    let all: Vec<&Event> = events.readable.iter().collect();
    let alarming: Vec<&Event> = all.iter().copied().filter(|event| event.is_alarming()).collect();
    on!(database, pool => {
        let mut transaction = pool.begin().await?;
        for (group, events) in [("store", all), ("alert", alarming)] {
            for chunk in events.chunks(CHUNK) {
                Job::messages(chunk)
                    .group(group)
                    .set_each(Job::EVENT, chunk.iter().map(|event| Some(event.id.clone())))
                    .insert(&mut *transaction)
                    .await?;
            }
        }
        // The table is ours, so a row can also be written by hand: no handler could read this one,
        // and it is a dead letter from the start.
        for unreadable in &events.unreadable {
            sqlx::query("INSERT INTO jobs (kind, payload, last_error) VALUES ('dead', $1, $2)")
                .bind(&unreadable.line)
                .bind(&unreadable.reason)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
    });
    Ok(())
}
