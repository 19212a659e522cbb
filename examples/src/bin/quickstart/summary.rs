//! What became of the events, as the tables tell it.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

use crate::Result;
use crate::database::{Database, on};

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Counts {
    /// Distinct events in the table that the handler writes.
    pub(crate) stored: u64,
    /// Rows that are done.
    pub(crate) acked: u64,
    /// Rows that failed at least once in a handler, whatever became of them.
    pub(crate) retried: u64,
    /// Rows that will not be worked on any more: their attempts are spent, or they are no events.
    pub(crate) dead_lettered: u64,
    /// Rows that are still to be worked on.
    pub(crate) left: u64,
}

impl Counts {
    pub(crate) async fn of(database: &Database) -> Result<Self> {
        let (stored, acked, retried, dead_lettered, left): (i64, i64, i64, i64, i64) = on!(database, pool => {
            sqlx::query_as(
                "SELECT (SELECT count(*) FROM earthquakes),
                            count(*) FILTER (WHERE processed_at IS NOT NULL),
                            count(*) FILTER (WHERE last_error IS NOT NULL AND event IS NOT NULL),
                            count(*) FILTER (WHERE kind = 'dead'),
                            count(*) FILTER (WHERE kind <> 'dead' AND processed_at IS NULL)
                     FROM jobs",
            )
            .fetch_one(pool)
            .await?
        });
        Ok(Self {
            stored: stored.unsigned_abs(),
            acked: acked.unsigned_abs(),
            retried: retried.unsigned_abs(),
            dead_lettered: dead_lettered.unsigned_abs(),
            left: left.unsigned_abs(),
        })
    }
}

/// Why rows failed: whether they are dead letters now, the reason, and how many they are.
type Reasons = Vec<(bool, String, i64)>;

impl Database {
    /// The most frequent reasons, dead letters last.
    pub(crate) async fn reasons(&self) -> Result<Reasons> {
        Ok(on!(self, pool => {
            sqlx::query_as(
                "SELECT kind = 'dead', last_error, count(*) FROM jobs WHERE last_error IS NOT NULL
                 GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2 LIMIT 10",
            )
            .fetch_all(pool)
            .await?
        }))
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    counts: Counts,
    seconds: f64,
    rows_per_second: f64,
    #[serde(skip)]
    reasons: Reasons,
}

impl Summary {
    pub(crate) fn new(counts: Counts, reasons: Reasons, took: Duration) -> Self {
        let seconds = (took.as_secs_f64() * 1000.0).round() / 1000.0;
        #[allow(clippy::cast_precision_loss, reason = "nobody has that many rows")]
        let rows_per_second = (counts.acked as f64 / took.as_secs_f64()).round();
        Self { counts, seconds, rows_per_second, reasons }
    }

    pub(crate) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    pub(crate) fn text(&self) -> String {
        let Self { counts, seconds, rows_per_second, reasons } = self;
        let Counts { stored, acked, retried, dead_lettered, left } = counts;
        let mut text = format!(
            "{stored} events are stored\n\
             {acked} rows are acked, {dead_lettered} are dead letters, {left} are left; \
             {retried} failed at least once\n"
        );
        for (is_dead, reason, rows) in reasons {
            let fate = if *is_dead { "dead" } else { "retried" };
            let _ = writeln!(text, "  {rows:>4} {fate}: {reason}");
        }
        let _ = writeln!(text, "{seconds:.1} seconds, {rows_per_second} rows a second");
        text
    }
}

/// Prints to stdout. A reader who has seen enough, such as `head`, is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => {
            printed.map_err(|error| format!("the summary cannot be printed: {error}").into())
        }
    }
}
