//! A server that lets nobody in, or that lets nobody write, while a service has rows in its hands.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::login::Login;
use queue_table_tests::proxy::Proxy;
use queue_table_tests::queue::{Script, create_tables, scripted};
use sqlx::Postgres;

use crate::gate::{Gate, left};
use crate::locked::publish;

conformance![
    Postgres:
    outcomes_wait_for_a_login_that_is_refused,
    outcomes_wait_for_a_login_that_is_over_its_limit,
    a_server_that_became_read_only_is_not_stormed_and_loses_no_outcome,
];

const ROWS: i64 = 20;

/// Longer than every test: an outcome that is lost leaves its row behind.
const LEASE: Duration = Duration::from_secs(300);

/// A service with a login of its own, behind a proxy that counts its connections. One worker is
/// free, so that it claims on.
async fn all_in_work(db: &TestDb<Postgres>, script: &Script) -> (Login, Proxy, RunningService) {
    create_tables(db).await;
    publish(db, ROWS).await;
    let login = Login::to(db).await;
    let (proxy, url) = Proxy::before(login.url()).await;
    let broker = SqlxBroker::<Postgres>::from_url(url);
    let service = Service::new("login").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(21).lease(LEASE));
    });
    let running = service.start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 20).await;
    (login, proxy, running)
}

/// Waits until every outcome is written, and proves that no row ran twice.
async fn all_written(db: &TestDb<Postgres>, script: &Script, running: RunningService) {
    eventually("every outcome is written", async || left(db).await == 0).await;
    running.shutdown().await.unwrap();
    let mut seen = script.seen();
    seen.sort_unstable();
    assert_eq!(seen, (1..=ROWS).map(|n| (n, 1)).collect::<Vec<_>>());
}

async fn outcomes_wait_for_a_login_that_is_refused(db: TestDb<Postgres>) {
    outcomes_wait(&db, "NOLOGIN", "LOGIN").await;
}

async fn outcomes_wait_for_a_login_that_is_over_its_limit(db: TestDb<Postgres>) {
    outcomes_wait(&db, "CONNECTION LIMIT 0", "CONNECTION LIMIT -1").await;
}

async fn outcomes_wait(db: &TestDb<Postgres>, refuse: &str, allow: &str) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (login, proxy, running) = all_in_work(db, &script).await;
    login.alter(refuse).await;
    assert!(login.terminate().await > 0);
    // The claims find the sessions dead. When they log in again none is left for the outcomes,
    // whose first statement is refused as well.
    let before = proxy.accepted();
    eventually("it logs in again", async || proxy.accepted() > before).await;
    gate.open_to(ROWS);
    eventually("every handler ended", async || gate.ended() == 20).await;
    stays("nobody is let in", Duration::from_millis(300), async || left(db).await == ROWS).await;
    login.alter(allow).await;
    all_written(db, &script, running).await;
}

async fn a_server_that_became_read_only_is_not_stormed_and_loses_no_outcome(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (login, proxy, running) = all_in_work(&db, &script).await;
    login.alter("SET default_transaction_read_only = on").await;
    assert!(login.terminate().await > 0);
    gate.open_to(ROWS);
    eventually("every handler ended", async || gate.ended() == 20).await;
    // A refused write costs its connection.
    let before = proxy.accepted();
    stays("nothing is written", Duration::from_secs(2), async || left(&db).await == ROWS).await;
    let tries = proxy.accepted() - before;
    assert!((1..=30).contains(&tries), "{tries} connections in two seconds");
    // Sessions that are there stay read-only; the service finds its way to others.
    login.alter("RESET default_transaction_read_only").await;
    all_written(&db, &script, running).await;
}
