//! Handlers of 100 rows a call, beside loops of 100 rows a statement with as many lanes: with leases
//! and with row locks.

use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use queue_table::Mounts;
use queue_table::prelude::*;
use serde_json::{Map, Value};
use sqlx::{Connection, PgConnection, PgPool, Postgres};
use tokio::task::JoinSet;

use crate::by_hand::{CLAIM, DELETE_MANY, work};
use crate::cost::{Cost, Meter};
use crate::rows::{Job, Rows};
use crate::{BoxError, ROUNDS, ROWS, Ran, Round, round};

/// Lanes of the loop, and workers of the subscription.
const LANES: usize = 8;

/// Rows of a call and of a statement.
const BATCH: i64 = 100;

#[subscriber(Rows, group = "bench", workers = 8, batch = 100)]
async fn count_batch(jobs: &[Job], State(ran): State<Arc<Ran>>) {
    jobs.iter().for_each(|job| ran.row(job.row));
}

/// The same rows, claimed by row locks: the lease column is a column like any other.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "drain_rows")]
struct LockedRows {
    #[queue(id)]
    id: i64,
    #[queue(group)]
    kind: String,
    #[queue(attempt)]
    attempt: i32,
    #[queue(retry_after)]
    retry_after: Option<DateTime<Utc>>,
    #[queue(payload)]
    payload: Vec<u8>,
}

#[subscriber(LockedRows, group = "bench", workers = 8, batch = 100)]
async fn count_locked(jobs: &[Job], State(ran): State<Arc<Ran>>) {
    jobs.iter().for_each(|job| ran.row(job.row));
}

const LOCK: &str = "SELECT c.id, c.payload FROM drain_rows AS c WHERE c.kind = 'bench' \
     AND coalesce(c.retry_after, '-infinity') <= statement_timestamp() \
     ORDER BY coalesce(c.retry_after, '-infinity'), c.id LIMIT $1 FOR UPDATE SKIP LOCKED";

const DELETE_LOCKED: &str = "DELETE FROM drain_rows WHERE id = ANY ($1)";

/// The medians of all, and their ratios.
pub(crate) async fn measure(url: &str, pool: &PgPool) -> Result<Value, BoxError> {
    let (mut leases, mut lease_lanes) = (Vec::new(), Vec::new());
    let (mut locks, mut lock_lanes) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        leases.push(measured(pool, |ran| drain(url, ran, |b| b.mount(count_batch))).await?);
        lease_lanes.push(measured(pool, |ran| lanes(pool, ran, lease_lane)).await?);
        locks.push(measured(pool, |ran| drain(url, ran, |b| b.mount(count_locked))).await?);
        lock_lanes.push(measured(pool, |ran| lanes(pool, ran, lock_lane)).await?);
    }
    let mut all = compared("batch", leases, lease_lanes);
    all.extend(compared("row_lock_batch", locks, lock_lanes));
    Ok(Value::Object(all))
}

fn compared(
    name: &str,
    ours: Vec<(Round, Cost)>,
    by_hand: Vec<(Round, Cost)>,
) -> Map<String, Value> {
    let ((ours, cost), (hand, by_hand)) = (median(ours), median(by_hand));
    let values = [
        ("rows_per_second", ours.rows_per_second.round()),
        ("loop_rows_per_second", hand.rows_per_second.round()),
        ("handler_ratio", ours.rows_per_second / hand.rows_per_second),
        ("commits_per_100_rows", ours.commits as f64 * 100.0 / ROWS as f64),
        ("cpu_seconds_per_1000_rows", cost.cpu_seconds_per_1000_rows),
        ("loop_cpu_seconds_per_1000_rows", by_hand.cpu_seconds_per_1000_rows),
        ("allocations_per_row", cost.allocations_per_row),
        ("loop_allocations_per_row", by_hand.allocations_per_row),
    ];
    values.into_iter().map(|(key, value)| (format!("{name}_{key}"), value.into())).collect()
}

async fn measured<F: Future<Output = Result<(), BoxError>>>(
    pool: &PgPool,
    drain: impl FnOnce(Arc<Ran>) -> F,
) -> Result<(Round, Cost), BoxError> {
    let cost = OnceLock::new();
    let metered = |ran| async {
        let meter = Meter::start();
        drain(ran).await?;
        let _ = cost.set(meter.stop(ROWS));
        Ok(())
    };
    let round = round(pool, metered).await?;
    Ok((round, *cost.get().ok_or("the round ended without its cost")?))
}

fn median(mut rounds: Vec<(Round, Cost)>) -> (Round, Cost) {
    rounds.sort_by(|(a, _), (b, _)| a.rows_per_second.total_cmp(&b.rows_per_second));
    rounds[rounds.len() / 2]
}

async fn drain(
    url: &str,
    ran: Arc<Ran>,
    mount: impl FnOnce(&mut Mounts<Postgres>),
) -> Result<(), BoxError> {
    let broker = SqlxBroker::<Postgres>::from_url(url);
    let service = Service::new("batches").state(Arc::clone(&ran)).with_broker(broker, mount);
    let running = service.start().await?;
    ran.all.notified().await;
    // Returns when every outcome is written.
    running.shutdown().await?;
    Ok(())
}

/// As many loops as the subscription has workers, each on a connection of its own.
async fn lanes<F: Future<Output = Result<(), BoxError>> + Send + 'static>(
    pool: &PgPool,
    ran: Arc<Ran>,
    lane: fn(PgConnection, Arc<Ran>) -> F,
) -> Result<(), BoxError> {
    let mut lanes = JoinSet::new();
    for _ in 0..LANES {
        let connection = PgConnection::connect_with(&pool.connect_options()).await?;
        lanes.spawn(lane(connection, Arc::clone(&ran)));
    }
    lanes.join_all().await.into_iter().collect()
}

/// Claims 100 rows, works on them and deletes them, until there are none.
async fn lease_lane(mut connection: PgConnection, ran: Arc<Ran>) -> Result<(), BoxError> {
    loop {
        let claim = sqlx::query_as::<_, (i64, DateTime<Utc>, Vec<u8>)>(CLAIM);
        let rows = claim.bind(BATCH).bind(0_i64).fetch_all(&mut connection).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let (mut ids, mut tokens) = (Vec::new(), Vec::new());
        for (id, token, payload) in rows {
            work(&payload, &ran)?;
            ids.push(id);
            tokens.push(token);
        }
        let delete = sqlx::query(DELETE_MANY).bind(ids).bind(tokens);
        delete.execute(&mut connection).await?;
    }
}

/// The same in one transaction.
async fn lock_lane(mut connection: PgConnection, ran: Arc<Ran>) -> Result<(), BoxError> {
    loop {
        let mut transaction = connection.begin().await?;
        let claim = sqlx::query_as::<_, (i64, Vec<u8>)>(LOCK).bind(BATCH);
        let rows = claim.fetch_all(&mut *transaction).await?;
        if rows.is_empty() {
            return Ok(transaction.rollback().await?);
        }
        let mut ids = Vec::new();
        for (id, payload) in rows {
            work(&payload, &ran)?;
            ids.push(id);
        }
        sqlx::query(DELETE_LOCKED).bind(ids).execute(&mut *transaction).await?;
        transaction.commit().await?;
    }
}
