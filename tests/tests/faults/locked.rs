//! Groups of which another session holds one row, and groups of a busy queue. Only PostgreSQL
//! locks rows.

use std::time::{Duration, Instant};

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, eventually_within, stays};
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use sqlx::pool::PoolConnection;
use sqlx::{Postgres, SqlSafeStr};

use crate::gate::{Gate, count_deletes, deletes, left};

conformance![
    Postgres:
    a_locked_row_does_not_hold_up_the_outcomes_of_others,
    a_row_locked_for_longer_than_a_lease_costs_no_other_lease,
    outcomes_of_a_busy_queue_share_statements,
    a_start_on_a_locked_table_is_refused_with_its_first_statement,
];

const ROWS: i64 = 500;

pub(crate) async fn publish(db: &TestDb<Postgres>, rows: i64) {
    let tasks: Vec<_> = (1..=rows).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=rows).insert(db.pool()).await.unwrap();
}

async fn all_in_work(db: &TestDb<Postgres>, script: &Script, lease: Duration) -> RunningService {
    create_tables(db).await;
    publish(db, ROWS).await;
    let broker = SqlxBroker::<Postgres>::from_url(db.url());
    let service = Service::new("locked").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(500).lease(lease));
    });
    let running = service.start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 500).await;
    running
}

/// A session that holds row 250, as an admin does or the insert of a row that refers to it.
async fn lock(db: &TestDb<Postgres>, strength: &'static str) -> PoolConnection<Postgres> {
    let mut connection = db.pool().acquire().await.unwrap();
    sqlx::raw_sql("BEGIN").execute(&mut *connection).await.unwrap();
    let lock = match strength {
        "UPDATE" => "SELECT FROM jobs WHERE id = 250 FOR UPDATE",
        _ => "SELECT FROM jobs WHERE id = 250 FOR KEY SHARE",
    };
    sqlx::raw_sql(lock.into_sql_str()).execute(&mut *connection).await.unwrap();
    connection
}

async fn unlock(mut holder: PoolConnection<Postgres>) {
    sqlx::raw_sql("COMMIT").execute(&mut *holder).await.unwrap();
}

async fn a_locked_row_does_not_hold_up_the_outcomes_of_others(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let running = all_in_work(&db, &script, Duration::from_secs(30)).await;
    count_deletes(&db).await;
    let holder = lock(&db, "KEY SHARE").await;
    gate.open_to(ROWS);
    eventually("all others are settled", async || left(&db).await == 1).await;
    let statements = deletes(&db).await;
    assert!(statements < 18, "the group was halved for it: {statements} statements");
    assert_eq!(db.value::<i64>("SELECT id FROM jobs").await, 250);
    stays("it waits for the lock", Duration::from_millis(700), async || left(&db).await == 1).await;
    unlock(holder).await;
    eventually("the last one is settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 500, "each ran once");
}

async fn a_row_locked_for_longer_than_a_lease_costs_no_other_lease(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let lease = Duration::from_secs(2);
    let running = all_in_work(&db, &script, lease).await;
    let holder = lock(&db, "UPDATE").await;
    let leases = "SELECT count(*) FROM jobs WHERE locked_until > clock_timestamp()";
    stays("the others keep their leases", lease * 3 / 2, async || {
        db.value::<i64>(leases).await >= ROWS - 1
    })
    .await;
    assert_eq!(db.value::<i64>(leases).await, ROWS - 1, "the locked one ran out");
    unlock(holder).await;
    // Nobody could claim it meanwhile, so it is still this delivery's.
    eventually("its lease is renewed", async || db.value::<i64>(leases).await == ROWS).await;
    gate.open_to(ROWS);
    eventually("all are settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 500, "each ran once");
    assert_eq!(gate.lost(), 0, "no handler was told that it lost its row");
}

async fn outcomes_of_a_busy_queue_share_statements(db: TestDb<Postgres>) {
    create_tables(&db).await;
    count_deletes(&db).await;
    let rows = 20_000;
    publish(&db, rows).await;
    let script = Script::always(Outcome::ack());
    let broker = SqlxBroker::<Postgres>::from_url(db.url());
    let service = Service::new("busy").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(32));
    });
    let running = service.start().await.unwrap();
    let limit = Duration::from_secs(60);
    eventually_within(limit, "no row is left", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    let statements = deletes(&db).await;
    assert!(rows / statements > 100, "{statements} statements for {rows} rows");
}

/// As by a migration that takes its time: every statement would wait for it as long as it may.
async fn a_start_on_a_locked_table_is_refused_with_its_first_statement(db: TestDb<Postgres>) {
    create_tables(&db).await;
    let mut holder = db.pool().acquire().await.unwrap();
    let lock = "BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(lock).execute(&mut *holder).await.unwrap();
    let broker = SqlxBroker::<Postgres>::from_url(db.url());
    let service = Service::new("locked").state(Script::always(Outcome::ack()));
    let service = service.with_broker(broker, |b| b.mount(scripted));
    let start = Instant::now();
    let Error::StartUp { errors, .. } = service.start().await.unwrap_err() else { panic!() };
    let waited = start.elapsed();
    unlock(holder).await;
    assert!(matches!(&errors[..], [SqlxBrokerError::Connect(_)]), "{errors:?}");
    assert!(errors[0].is_transient());
    // A statement waits a second for a lock, and there are nine.
    assert!(waited < Duration::from_secs(5), "{waited:?}");
}
