//! What the compiler says of a wrong declaration: one file a rule in `fail`, right ones in `pass`.
//!
//! Here is what those files have in common.

use queue_table::prelude::*;
use queue_table::{Backend, Mounts};
use serde::{Deserialize, Serialize};
use sqlx::{Postgres, Sqlite};

/// A row of a table with groups.
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
    retry_after: Option<i64>,
    #[queue(locked_until)]
    locked_until: Option<i64>,
    #[queue(payload)]
    payload: sqlx::types::Json<Email>,
    /// A data column.
    pub account_id: Option<i64>,
}

/// A row of a table without groups.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "plain")]
pub struct Plain {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: Option<i64>,
}

/// A row of a table without groups that counts deliveries.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "counted")]
pub struct Counted {
    #[queue(id)]
    id: i64,
    #[queue(attempt)]
    attempt: i32,
    #[queue(locked_until)]
    locked_until: Option<i64>,
}

/// A dead letter of it.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "dead_counted")]
pub struct DeadCounted {
    #[queue(id)]
    id: i64,
    #[queue(attempt)]
    attempt: i32,
    #[queue(locked_until)]
    locked_until: Option<i64>,
}

/// A message.
#[derive(Debug, Serialize, Deserialize)]
pub struct Email {
    /// Its receiver.
    pub to: String,
}

/// Mounts on SQLite.
pub fn on_sqlite(mount: impl FnOnce(&mut Mounts<Sqlite>)) {
    on::<Sqlite>("sqlite::memory:", mount);
}

/// Mounts on PostgreSQL.
pub fn on_postgres(mount: impl FnOnce(&mut Mounts<Postgres>)) {
    on::<Postgres>("postgres://localhost", mount);
}

fn on<DB: Backend>(url: &str, mount: impl FnOnce(&mut Mounts<DB>)) {
    let broker = SqlxBroker::<DB>::from_url(url);
    let _ = Service::new("ui").with_broker(broker, mount);
}
