//! A pool that the service shares with its queue: who has its connections, and how they come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, eventually_within};
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{Executor, Postgres};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::gate::{Gate, left};
use crate::locked::publish;

conformance![
    Postgres:
    a_service_stops_although_others_hold_its_whole_pool,
    handlers_that_hold_the_whole_pool_are_aborted_and_their_rows_given_back,
    a_busy_broker_leaves_its_pool_to_others,
    a_connection_has_its_settings_between_statements,
    a_connection_has_its_settings_after_a_refused_statement,
    a_connection_has_its_settings_after_a_stop_in_the_middle,
];

/// A claim waits 12 seconds for a connection, an outcome after it as long, and no second one.
const LIMIT: Duration = Duration::from_secs(30);

/// What a service may have set, and none of it is what the queue works with.
const SETTINGS: [(&str, &str); 7] = [
    ("default_transaction_isolation", "serializable"),
    ("statement_timeout", "77s"),
    ("lock_timeout", "7s"),
    ("enable_seqscan", "on"),
    ("enable_bitmapscan", "on"),
    ("plan_cache_mode", "force_generic_plan"),
    ("jit", "on"),
];

/// A pool whose connections have these settings.
async fn pool(db: &TestDb<Postgres>, connections: u32) -> PgPool {
    let options = PgPoolOptions::new().max_connections(connections);
    let options = options.after_connect(|connection, _| {
        Box::pin(async move {
            for (name, value) in SETTINGS {
                let set = sqlx::query("SELECT set_config($1, $2, false)").bind(name).bind(value);
                connection.execute(set).await?;
            }
            Ok(())
        })
    });
    options.connect(db.url()).await.unwrap()
}

/// The settings of a connection that are not the service's.
async fn foreign_settings(connection: &mut PgConnection) -> Vec<(String, String)> {
    let (names, values): (Vec<_>, Vec<_>) = SETTINGS.into_iter().unzip();
    let query = "SELECT s.name, current_setting(s.name) \
         FROM unnest($1::text[], $2::text[]) AS s (name, value) \
         WHERE current_setting(s.name) <> s.value";
    sqlx::query_as(query).bind(names).bind(values).fetch_all(connection).await.unwrap()
}

/// Proves that every connection of a pool has the settings of the service.
async fn all_as_before(pool: &PgPool) {
    let mut connections = Vec::new();
    for _ in 0..pool.options().get_max_connections() {
        let connection = timeout(LIMIT, pool.acquire()).await;
        connections.push(connection.expect("no connection is lost").unwrap());
    }
    for connection in &mut connections {
        assert_eq!(foreign_settings(connection).await, []);
    }
}

async fn shared(pool: &PgPool, script: &Script, lease: Duration) -> RunningService {
    let broker = SqlxBroker::<Postgres, _>::new(pool.clone());
    let service = Service::new("shared").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(3).lease(lease));
    });
    service.drain_timeout(Duration::from_millis(300)).start().await.unwrap()
}

async fn a_service_stops_although_others_hold_its_whole_pool(db: TestDb<Postgres>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let gate = Gate::closed();
    // A statement for each.
    let script = gate.then(|n, _| match n {
        1 => Outcome::ack(),
        2 => Outcome::retry(),
        _ => Outcome::retry_after(Duration::ZERO),
    });
    let pool = pool(&db, 3).await;
    let running = shared(&pool, &script, Duration::from_secs(1)).await;
    eventually("three deliveries", async || script.seen().len() == 3).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(pool.acquire().await.unwrap());
    }
    gate.open_to(3);
    eventually("all handlers ended", async || gate.ended() == 3).await;
    let stopped = timeout(LIMIT, running.shutdown()).await;
    stopped.expect("not stopped in time").unwrap();
    assert_eq!(left(&db).await, 3, "the rows wait for the next process");
    drop(held);
    all_as_before(&pool).await;
}

async fn handlers_that_hold_the_whole_pool_are_aborted_and_their_rows_given_back(
    db: TestDb<Postgres>,
) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let pool = pool(&db, 3).await;
    let used = pool.clone();
    let script = Script::new(move |_| {
        let pool = used.clone();
        async move {
            let _held = pool.acquire().await.unwrap();
            std::future::pending().await
        }
    });
    let running = shared(&pool, &script, Duration::from_secs(60)).await;
    eventually("every connection is in use", async || {
        script.seen().len() == 3 && pool.size() == 3 && pool.num_idle() == 0
    })
    .await;
    timeout(LIMIT, running.shutdown()).await.expect("not stopped in time").unwrap();
    let rows: Vec<(i64, bool)> =
        db.rows("SELECT attempt, locked_until > clock_timestamp() FROM jobs").await;
    assert_eq!(rows, [(1, false); 3], "with the counts that they had");
    all_as_before(&pool).await;
}

async fn a_busy_broker_leaves_its_pool_to_others(db: TestDb<Postgres>) {
    create_tables(&db).await;
    let pool = pool(&db, 2).await;
    let broker = SqlxBroker::<Postgres, _>::new(pool.clone()).connect().await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut busy = JoinSet::new();
    for _ in 0..8 {
        let (publisher, stop) = (broker.publisher::<Job>(), Arc::clone(&stop));
        busy.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                publisher.publish(Job::message(&Task { n: 1 }).group("other")).await.unwrap();
            }
        });
    }
    eventually("all are busy", async || left(&db).await > 50).await;
    for _ in 0..20 {
        let acquired = timeout(Duration::from_secs(5), pool.acquire()).await;
        acquired.expect("others get their turn").unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    busy.join_all().await;
    broker.shutdown().await;
    all_as_before(&pool).await;
}

async fn a_connection_has_its_settings_between_statements(db: TestDb<Postgres>) {
    create_tables(&db).await;
    publish(&db, 200).await;
    // Statements wait for the one connection and hand it to each other; handlers wait for it too.
    let pool = pool(&db, 1).await;
    let used = pool.clone();
    let script = Script::new(move |_| {
        let pool = used.clone();
        async move {
            let foreign = foreign_settings(&mut pool.acquire().await.unwrap()).await;
            if foreign.is_empty() { Outcome::ack() } else { panic!("{foreign:?}") }
        }
    });
    let running = shared(&pool, &script, Duration::from_secs(60)).await;
    eventually_within(LIMIT, "no row is left", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 200, "no handler found other settings");
    all_as_before(&pool).await;
}

async fn a_connection_has_its_settings_after_a_refused_statement(db: TestDb<Postgres>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    db.execute("CREATE TABLE children (job bigint REFERENCES jobs (id))").await;
    db.execute("INSERT INTO children VALUES (2)").await;
    let pool = pool(&db, 1).await;
    let script = Script::always(Outcome::ack());
    let mut running = shared(&pool, &script, Duration::from_secs(60)).await;
    eventually("all others are settled", async || left(&db).await == 1).await;
    all_as_before(&pool).await;
    // A statement that fails for good ends the service.
    db.execute("DROP TABLE children, jobs").await;
    running.stopped().await.unwrap_err();
    all_as_before(&pool).await;
}

async fn a_connection_has_its_settings_after_a_stop_in_the_middle(db: TestDb<Postgres>) {
    create_tables(&db).await;
    let rows = 2000;
    publish(&db, rows).await;
    let pool = pool(&db, 2).await;
    let script = Script::always(Outcome::ack());
    let running = shared(&pool, &script, Duration::from_secs(60)).await;
    eventually("it is at work", async || left(&db).await < rows).await;
    running.shutdown().await.unwrap();
    assert!(left(&db).await > 0, "it was not done");
    all_as_before(&pool).await;
}
