//! A group of leases of which the database refuses to move one.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Job, Task, create_tables, scripted};
use queue_table_tests::stands::Kind;

use super::super::Database;
use crate::gate::{Gate, left};

conformance![Database: a_lease_that_a_trigger_refuses_to_move_costs_no_other_lease];

const ROWS: i64 = 50;
const REFUSED: i64 = 25;

/// Refuses what a renewal writes: the claim counts too, and is let through.
const REFUSE: &str = match Database::KIND {
    Kind::Postgres => {
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN RAISE EXCEPTION ''no''; END'; \
         CREATE TRIGGER refuse BEFORE UPDATE ON jobs FOR EACH ROW \
         WHEN (OLD.id = 25 AND OLD.attempt = NEW.attempt \
         AND OLD.locked_until IS DISTINCT FROM NEW.locked_until) EXECUTE FUNCTION refuse()"
    }
    Kind::Sqlite => {
        "CREATE TRIGGER refuse BEFORE UPDATE ON jobs \
         WHEN OLD.id = 25 AND OLD.attempt = NEW.attempt \
         AND OLD.locked_until IS NOT NEW.locked_until \
         BEGIN SELECT RAISE(ABORT, 'no'); END"
    }
};

async fn a_lease_that_a_trigger_refuses_to_move_costs_no_other_lease(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute(REFUSE).await;
    let tasks: Vec<_> = (1..=ROWS).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=ROWS).insert(db.pool()).await.unwrap();
    let gate = Gate::closed();
    let script = gate.then_ack();
    let lease = Duration::from_secs(3);
    let broker = SqlxBroker::<Database>::from_url(db.url());
    // No worker is free, so that nobody claims the row while its lease is run out.
    let service = Service::new("unrenewed").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(50).lease(lease));
    });
    let running = service.start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 50).await;

    let now = Database::now_plus(0);
    let without = format!("SELECT id FROM jobs WHERE locked_until <= {now} ORDER BY id");
    let lost = async || db.rows::<(i64,)>(without.as_str()).await;
    eventually("its lease runs out", async || lost().await == [(REFUSED,)]).await;
    stays("the others keep theirs", lease, async || lost().await == [(REFUSED,)]).await;

    gate.open_to(ROWS);
    eventually("all are settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    let mut seen = script.seen();
    // Once workers are free, whoever is first has the row without a lease: its outcome, or a claim.
    seen.retain(|(n, _)| *n != REFUSED);
    assert_eq!(seen.len(), 49, "each of the others ran once: {seen:?}");
    assert_eq!(gate.lost(), 0, "no handler was told that it lost its row");
}
