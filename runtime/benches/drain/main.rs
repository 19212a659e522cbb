//! How fast a backlog is worked off, beside two loops written by hand, on the same rows.
//!
//! `QUEUE_TABLE_STANDS=postgres15=postgres://.. cargo bench -p queue-table --bench drain`

mod batches;
mod by_hand;
mod cost;
mod inserts;
mod rows;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use queue_table::prelude::*;
use sqlx::PgPool;
use tokio::sync::Notify;

use rows::{Job, Rows};

/// Rows of one round.
const ROWS: usize = 20_000;

/// Rounds of each kind, one after the other; the median counts.
const ROUNDS: usize = 3;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What ran, by id, and how much of it.
#[derive(Debug)]
pub(crate) struct Ran {
    times: Vec<AtomicU8>,
    count: AtomicUsize,
    all: Notify,
}

impl Ran {
    fn new() -> Arc<Self> {
        let times = std::iter::repeat_with(AtomicU8::default).take(ROWS + 1).collect();
        Arc::new(Self { times, count: AtomicUsize::new(0), all: Notify::new() })
    }

    /// A handler worked on the row.
    pub(crate) fn row(&self, id: usize) {
        self.times[id].fetch_add(1, Ordering::Relaxed);
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 == ROWS {
            self.all.notify_one();
        }
    }

    fn each_row_ran_once(&self) -> bool {
        self.times[1..].iter().all(|times| times.load(Ordering::Relaxed) == 1)
    }
}

#[subscriber(Rows, group = "bench", workers = 32)]
async fn count(job: &Job, State(ran): State<Arc<Ran>>) {
    ran.row(job.row);
}

#[derive(Debug, Clone, Copy)]
struct Round {
    rows_per_second: f64,
    commits: i64,
}

/// Times `drain` on a fresh table, until every row ran and is gone.
async fn round<F: Future<Output = Result<(), BoxError>>>(
    pool: &PgPool,
    drain: impl FnOnce(Arc<Ran>) -> F,
) -> Result<Round, BoxError> {
    rows::fill(pool, ROWS).await?;
    let ran = Ran::new();
    let commits = rows::commits(pool).await?;
    let started = Instant::now();
    drain(Arc::clone(&ran)).await?;
    let seconds = started.elapsed().as_secs_f64();
    let left = rows::left(pool).await?;
    if left > 0 || !ran.each_row_ran_once() {
        return Err(format!("{left} rows are left, or not every row ran once").into());
    }
    // The server reports a backend's commits a little later.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let commits = rows::commits(pool).await? - commits;
    Ok(Round { rows_per_second: ROWS as f64 / seconds, commits })
}

async fn ours(url: &str, ran: Arc<Ran>) -> Result<(), BoxError> {
    let broker = SqlxBroker::<sqlx::Postgres>::from_url(url);
    let service = Service::new("drain").state(Arc::clone(&ran)).with_broker(broker, |b| {
        b.mount(count);
    });
    let running = service.start().await?;
    ran.all.notified().await;
    // Returns when every outcome is written.
    running.shutdown().await?;
    Ok(())
}

fn median(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by(|a, b| a.rows_per_second.total_cmp(&b.rows_per_second));
    rounds[rounds.len() / 2]
}

async fn measure(url: &str) -> Result<(), BoxError> {
    let pool = PgPool::connect(url).await?;
    let durable = rows::is_durable(&pool).await?;
    let (mut our, mut one, mut batched) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        our.push(round(&pool, |ran| ours(url, ran)).await?);
        one.push(round(&pool, |ran| by_hand::one_by_one(&pool, ran)).await?);
        batched.push(round(&pool, |ran| by_hand::batched(&pool, ran)).await?);
    }
    let batches = batches::measure(url, &pool).await?;
    let inserts = [inserts::on_postgres(&pool).await?, inserts::on_sqlite().await?];
    rows::remove(&pool).await?;
    let (our, one, batched) = (median(our), median(one), median(batched));
    if !durable {
        println!("fsync is off on this server: its ratios say nothing, so none are printed");
        return Ok(());
    }
    if batched.rows_per_second < 15.0 * one.rows_per_second {
        return Err("the batched loop is under 15 times the loop: it is no yardstick".into());
    }
    let mut json = serde_json::json!({
        "rows_per_second": our.rows_per_second.round(),
        "loop_rows_per_second": one.rows_per_second.round(),
        "batched_loop_rows_per_second": batched.rows_per_second.round(),
        "ratio": our.rows_per_second / one.rows_per_second,
        "batched_ratio": our.rows_per_second / batched.rows_per_second,
        "commits_per_100_rows": our.commits as f64 * 100.0 / ROWS as f64,
    });
    for more in [batches].into_iter().chain(inserts) {
        if let (Some(json), serde_json::Value::Object(more)) = (json.as_object_mut(), more) {
            json.extend(more);
        }
    }
    println!("{json}");
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let stands = std::env::var("QUEUE_TABLE_STANDS").unwrap_or_default();
    let url = stands
        .split(',')
        .filter_map(|stand| stand.split_once('='))
        .find_map(|(name, url)| name.trim().starts_with("postgres").then_some(url));
    let Some(url) = url else {
        return Err("name a server: QUEUE_TABLE_STANDS=postgres15=postgres://..".into());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(url))
}
