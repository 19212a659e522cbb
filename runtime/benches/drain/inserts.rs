//! A thousand messages in one statement, beside the same statement written by hand.

use std::time::Instant;

use queue_table::prelude::*;
use serde_json::{Value, json};
use sqlx::{PgPool, SqlitePool};

use crate::BoxError;
use crate::cost::{Cost, Meter};
use crate::rows::{self, Job, Rows};

/// Messages of a statement.
const MESSAGES: usize = 1000;

/// Statements of a round.
const STATEMENTS: usize = 20;

/// Rounds of each kind, one after the other; the median counts.
const ROUNDS: usize = 5;

const UNNEST: &str = "INSERT INTO drain_rows (kind, payload) SELECT 'bench', u.payload FROM unnest($1) AS u(payload)";

const JSON_EACH: &str = "INSERT INTO drain_rows (kind, payload) \
     SELECT 'bench', CAST(e.value AS blob) FROM json_each($1) AS e";

const SQLITE: &str = "CREATE TABLE drain_rows (id integer PRIMARY KEY, kind text NOT NULL, \
     attempt integer NOT NULL DEFAULT 1, retry_after text, locked_until text, \
     payload blob NOT NULL); \
     CREATE INDEX drain_ready ON drain_rows (kind, coalesce(retry_after, ''), id)";

/// The medians of both on PostgreSQL, and their ratio.
pub(crate) async fn on_postgres(pool: &PgPool) -> Result<Value, BoxError> {
    rows::fill(pool, 0).await?;
    let jobs = messages();
    let ours = async || {
        Rows::messages(&jobs).group("bench").insert(pool).await?;
        Ok(())
    };
    let by_hand = async || {
        let payloads = jobs.iter().map(serde_json::to_vec).collect::<Result<Vec<_>, _>>()?;
        sqlx::query(UNNEST).bind(payloads).execute(pool).await?;
        Ok(())
    };
    compare("insert", ours, by_hand).await
}

/// The same on SQLite, in a file of its own.
pub(crate) async fn on_sqlite() -> Result<Value, BoxError> {
    let file = std::env::temp_dir().join(format!("queue-table-drain-{}.db", std::process::id()));
    let pool = SqlitePool::connect(&format!("sqlite:{}?mode=rwc", file.display())).await?;
    sqlx::raw_sql("PRAGMA journal_mode = wal").execute(&pool).await?;
    sqlx::raw_sql(SQLITE).execute(&pool).await?;
    let jobs = messages();
    let ours = async || {
        Rows::messages(&jobs).group("bench").insert(&pool).await?;
        Ok(())
    };
    let by_hand = async || {
        let payloads = jobs.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        sqlx::query(JSON_EACH).bind(serde_json::to_string(&payloads)?).execute(&pool).await?;
        Ok(())
    };
    let compared = compare("sqlite_insert", ours, by_hand).await;
    pool.close().await;
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
    compared
}

fn messages() -> Vec<Job> {
    let job = |row| Job { row, to: "somebody@example.org".into(), subject: "hello".into() };
    (1..=MESSAGES).map(job).collect()
}

/// Rounds of both in turn.
async fn compare(
    name: &str,
    ours: impl AsyncFn() -> Result<(), BoxError>,
    by_hand: impl AsyncFn() -> Result<(), BoxError>,
) -> Result<Value, BoxError> {
    // Statements are prepared and pages allocated.
    ours().await?;
    by_hand().await?;
    let (mut our, mut hand) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        our.push(round(&ours).await?);
        hand.push(round(&by_hand).await?);
    }
    let ((our, cost), (hand, hand_cost)) = (median(our), median(hand));
    let value = json!({
        "rows_per_second": our.round(),
        "by_hand_rows_per_second": hand.round(),
        "ratio": our / hand,
        "cpu_seconds_per_1000_rows": cost.cpu_seconds_per_1000_rows,
        "by_hand_cpu_seconds_per_1000_rows": hand_cost.cpu_seconds_per_1000_rows,
        "allocations_per_row": cost.allocations_per_row,
        "by_hand_allocations_per_row": hand_cost.allocations_per_row,
    });
    let Value::Object(map) = value else { return Ok(value) };
    Ok(map.into_iter().map(|(key, value)| (format!("{name}_{key}"), value)).collect())
}

async fn round(insert: &impl AsyncFn() -> Result<(), BoxError>) -> Result<(f64, Cost), BoxError> {
    let rows = STATEMENTS * MESSAGES;
    let (meter, started) = (Meter::start(), Instant::now());
    for _ in 0..STATEMENTS {
        insert().await?;
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok((rows as f64 / seconds, meter.stop(rows)))
}

fn median(mut rounds: Vec<(f64, Cost)>) -> (f64, Cost) {
    rounds.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    rounds[rounds.len() / 2]
}
