//! Defaults: every setting of a service written out with the value that it has anyway.
//!
//! Leave any of them away, and nothing changes; a test checks that. It works on three rows in a
//! SQLite file of its own and ends.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use queue_table::prelude::*;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Sqlite, SqlitePool};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// `schema` and the names of columns are only needed where they differ from what is here.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
    /// Without this column handlers take every row of the table, and dead letters need another one.
    #[queue(group)]
    kind: String,
    /// Without it nothing is counted, and there is no `max_attempts`.
    #[queue(attempt)]
    attempt: i32,
    /// Without it `retry_after` is a `retry`. Microseconds since 1970.
    #[queue(retry_after)]
    retry_after: Option<i64>,
    /// It makes this a lease table.
    #[queue(locked_until)]
    locked_until: Option<i64>,
    /// Without a column `#[queue(processed_at)]` a row that is done is deleted, and without
    /// `#[queue(last_error)]` reasons stand in the log only.
    #[queue(payload)]
    payload: String,
}

/// What is not here has no default: `max_attempts` with its `dead_letter`, `timeout` and `on_error`
/// are off unless they are written, and `group` must be.
#[subscriber(
    Job,
    group = "work",
    workers = 8,
    poll_interval = "1s",
    lease = "30s",
    on_decode_failure = retry_after("60s")
)]
async fn written_out(number: &u32) {
    let _ = writeln!(std::io::stdout(), "{number}");
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options =
        SqliteConnectOptions::new().filename(folder.path().join("jobs.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options.clone()).await?;
    sqlx::raw_sql(include_str!("schema.sql")).execute(&pool).await?;
    Job::messages(&[1_u32, 2, 3]).group("work").insert(&pool).await?;

    let broker = SqlxBroker::<Sqlite>::from_connect_options(options)
        // The pool that the broker builds. SQLite has one writer, and the queue is one of them.
        .pool_options(
            SqlitePoolOptions::new()
                .max_connections(10)
                .acquire_timeout(Duration::from_secs(5))
                .test_before_acquire(false),
        )
        .connection_limit(10)
        // Of subscribers that do not say otherwise.
        .poll_interval(Duration::from_secs(1))
        .lease(Duration::from_secs(30));
    let running = Service::new("defaults")
        .drain_timeout(Duration::from_secs(30))
        .with_broker(broker, |b| b.mount(written_out))
        .start()
        .await?;

    while left(&pool).await? > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.shutdown().await?;
    pool.close().await;
    Ok(())
}

async fn left(pool: &SqlitePool) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM jobs").fetch_one(pool).await?)
}

#[cfg(test)]
mod tests {
    use super::{Job, written_out};
    use queue_table::prelude::*;
    use std::time::Duration;

    #[subscriber(Job, group = "work")]
    async fn left_away(number: &u32) {
        let _ = number;
    }

    /// The two that a broker can set are set here, to what its own default is.
    fn settings(mounted: &impl std::fmt::Debug) -> String {
        format!("{mounted:?}").replace("left_away", "written_out")
    }

    #[test]
    fn what_is_written_out_is_the_default() {
        let left_away =
            left_away.poll_interval(Duration::from_secs(1)).lease(Duration::from_secs(30));
        let written_out = written_out.workers(8);
        assert_eq!(settings(&left_away), settings(&written_out));
    }
}
