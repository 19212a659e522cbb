//! A network that stands still. Every statement has a limit of 12 seconds, and these tests wait
//! for it; they run beside each other.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, eventually_within};
use queue_table_tests::proxy::Proxy;
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use sqlx::Postgres;

use crate::gate::{Gate, left};
use crate::locked::publish;

conformance![
    Postgres:
    a_claim_without_an_answer_is_given_up_and_the_next_one_claims,
    an_outcome_without_an_answer_is_looked_up_and_written,
    a_renewal_without_an_answer_costs_no_delivery,
    a_publish_without_an_answer_is_an_error_and_the_next_one_goes_through,
    a_service_stops_although_its_server_stands_still,
    a_broker_closes_although_its_server_stands_still,
];

/// The limit of a statement, or of a connection that was being opened, which is 30 seconds in the
/// pool, and what a loaded machine takes beside.
const LIMIT: Duration = Duration::from_secs(50);

/// A service behind a proxy.
pub(crate) async fn behind(
    db: &TestDb<Postgres>,
    script: &Script,
    lease: Duration,
) -> (Proxy, RunningService) {
    create_tables(db).await;
    let (proxy, url) = Proxy::before(db.url()).await;
    let broker = SqlxBroker::<Postgres>::from_url(url);
    let service = Service::new("behind").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.lease(lease).workers(1));
    });
    let service = service.drain_timeout(Duration::from_secs(2));
    (proxy, service.start().await.unwrap())
}

const LONG: Duration = Duration::from_secs(60);

async fn a_claim_without_an_answer_is_given_up_and_the_next_one_claims(db: TestDb<Postgres>) {
    let script = Script::always(Outcome::ack());
    let (proxy, running) = behind(&db, &script, LONG).await;
    publish(&db, 1).await;
    eventually("it works", async || left(&db).await == 0).await;
    proxy.strand();
    publish(&db, 5).await;
    eventually_within(LIMIT, "the rows are worked off", async || left(&db).await == 0).await;
    assert_eq!(script.seen().len(), 6);
    running.shutdown().await.unwrap();
}

async fn an_outcome_without_an_answer_is_looked_up_and_written(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, LONG).await;
    publish(&db, 1).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    proxy.strand();
    gate.open_to(1);
    eventually_within(LIMIT, "the row is settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
}

async fn a_renewal_without_an_answer_costs_no_delivery(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, Duration::from_secs(1)).await;
    publish(&db, 1).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    proxy.strand();
    let leases = "SELECT count(*) FROM jobs WHERE locked_until > clock_timestamp()";
    eventually("the lease runs out", async || db.value::<i64>(leases).await == 0).await;
    eventually_within(LIMIT, "it is renewed", async || db.value::<i64>(leases).await == 1).await;
    gate.open_to(1);
    eventually("the row is settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)], "nobody else had it");
    assert_eq!(gate.lost(), 0);
}

async fn a_publish_without_an_answer_is_an_error_and_the_next_one_goes_through(
    db: TestDb<Postgres>,
) {
    create_tables(&db).await;
    let (proxy, url) = Proxy::before(db.url()).await;
    let broker = SqlxBroker::<Postgres>::from_url(url).connect().await.unwrap();
    let publisher = broker.publisher::<Job>();
    let message = || Job::message(&Task { n: 1 }).group("work");
    publisher.publish(message()).await.unwrap();
    proxy.strand();
    let published = tokio::time::timeout(LIMIT, publisher.publish(message())).await;
    let error = published.unwrap().unwrap_err();
    assert!(error.is_transient(), "{error}");
    publisher.publish(message()).await.unwrap();
    assert_eq!(left(&db).await, 2, "the stranded one never reached the server");
    broker.shutdown().await;
}

/// One delivery has its outcome on the way, and every other statement stands still too.
async fn a_service_stops_although_its_server_stands_still(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, Duration::from_secs(3)).await;
    publish(&db, 2).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    proxy.freeze();
    gate.open_to(2);
    eventually("the handler ended", async || gate.ended() == 1).await;
    // A statement's limit, the drain timeout and a lease are 17 seconds.
    let stopped = tokio::time::timeout(LIMIT, running.shutdown()).await;
    stopped.expect("not stopped in time").unwrap();
    assert_eq!(left(&db).await, 2, "both rows wait for the next process");
}

/// Its connections have nothing to do, and nobody waits for an answer on them.
async fn a_broker_closes_although_its_server_stands_still(db: TestDb<Postgres>) {
    create_tables(&db).await;
    let (proxy, url) = Proxy::before(db.url()).await;
    let mut brokers = Vec::new();
    for _ in 0..10 {
        let broker = SqlxBroker::<Postgres>::from_url(url.as_str()).connect().await.unwrap();
        let publisher = broker.publisher::<Job>();
        publisher.publish(Job::message(&Task { n: 1 }).group("work")).await.unwrap();
        brokers.push(broker);
    }
    proxy.freeze();
    for broker in brokers {
        // None of them waits for the limit of a statement.
        let closed = tokio::time::timeout(Duration::from_secs(6), broker.shutdown()).await;
        closed.expect("not closed in time");
    }
}
