//! Leases: what holds a row, what renews it, what becomes of one that is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Script, create_tables, scripted};
use tokio::sync::Semaphore;

use super::{Database, broker, publish, start};

conformance![
    Database:
    a_lease_is_renewed_while_its_handler_runs,
    a_lease_that_ran_out_is_claimed_again_and_counted,
    a_handler_is_told_that_it_lost_its_row,
    a_stale_holders_settlement_changes_nothing,
    nobody_else_claims_a_leased_row,
    a_row_that_is_gone_is_lost_and_the_service_goes_on,
];

/// A handler that works until the test lets it end.
fn gated(gate: &Arc<Semaphore>) -> Script {
    let gate = Arc::clone(gate);
    Script::new(move |_| {
        let gate = Arc::clone(&gate);
        async move {
            gate.acquire().await.unwrap().forget();
            Outcome::ack()
        }
    })
}

async fn with_lease(db: &TestDb<Database>, script: &Script, lease: Duration) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(scripted.lease(lease));
    });
    service.drain_timeout(Duration::from_secs(5)).start().await.unwrap()
}

async fn a_lease_is_renewed_while_its_handler_runs(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let gate = Arc::new(Semaphore::new(0));
    let script = gated(&gate);
    let running = with_lease(&db, &script, Duration::from_millis(400)).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    let leased = "SELECT CAST(locked_until AS text) FROM jobs";
    let first: String = db.value(leased).await;
    eventually("a third lease", async || {
        let second: String = db.value(leased).await;
        second > first && {
            let more: String = eventually("another lease", async || {
                let third: String = db.value(leased).await;
                (third > second).then_some(third)
            })
            .await;
            more > second
        }
    })
    .await;
    gate.add_permits(1);
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
}

async fn a_lease_that_ran_out_is_claimed_again_and_counted(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let shift = Arc::new(AtomicI64::new(0));
    // What a process leaves that was killed: a lease, and the count of its delivery.
    let until = <Database as queue_table_tests::database::Db>::now_plus(3600);
    db.execute(format!("UPDATE jobs SET attempt = 2, locked_until = {until}")).await;
    let script = Script::always(Outcome::ack());
    let clock = HostClock::shifted(Arc::clone(&shift));
    let service =
        Service::new("test").state(script.clone()).with_broker(broker(&db).clock(clock), |b| {
            b.mount(scripted);
        });
    let running = service.start().await.unwrap();
    stays("a lease in force holds its row", Duration::from_millis(200), async || {
        script.seen().is_empty()
    })
    .await;
    shift.store(3_601_000_000, Ordering::Relaxed);
    eventually("the second delivery", async || script.seen() == [(1, 2)]).await;
    running.shutdown().await.unwrap();
}

async fn a_handler_is_told_that_it_lost_its_row(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let told = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&told);
    let script = Script::new(move |seen| {
        let tell = Arc::clone(&tell);
        async move {
            seen.cancellation.cancelled().await;
            tell.store(true, Ordering::Relaxed);
            Outcome::ack()
        }
    });
    let running = with_lease(&db, &script, Duration::from_millis(200)).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    let until = <Database as queue_table_tests::database::Db>::now_plus(3600);
    db.execute(format!("UPDATE jobs SET locked_until = {until}, attempt = 7")).await;
    eventually("the handler is told", async || told.load(Ordering::Relaxed)).await;
    running.shutdown().await.unwrap();
    assert_eq!(db.value::<i64>("SELECT attempt FROM jobs").await, 7, "its ack changed nothing");
}

async fn a_stale_holders_settlement_changes_nothing(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    let gate = Arc::new(Semaphore::new(0));
    let script = gated(&gate);
    let running = start(&db, &script).await;
    eventually("both deliveries", async || script.seen().len() == 2).await;
    // Somebody else has row 1, with the same count but another lease, and row 2 is the same with
    // the same lease but another count.
    let until = <Database as queue_table_tests::database::Db>::now_plus(3600);
    db.execute(format!("UPDATE jobs SET locked_until = {until} WHERE id = 1")).await;
    db.execute("UPDATE jobs SET attempt = attempt + 1 WHERE id = 2").await;
    let rows = "SELECT id, attempt, CAST(locked_until AS text) FROM jobs ORDER BY id";
    let before: Vec<(i64, i64, String)> = db.rows(rows).await;
    gate.add_permits(2);
    running.shutdown().await.unwrap();
    assert_eq!(db.rows::<(i64, i64, String)>(rows).await, before);
}

async fn nobody_else_claims_a_leased_row(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 20).await;
    let gate = Arc::new(Semaphore::new(0));
    let first = gated(&gate);
    let second = gated(&gate);
    let one = start(&db, &first).await;
    let two = start(&db, &second).await;
    eventually("both are busy", async || first.seen().len() >= 8 && second.seen().len() >= 8).await;
    gate.add_permits(1000);
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    one.shutdown().await.unwrap();
    two.shutdown().await.unwrap();
    let mut all: Vec<_> = first.seen().into_iter().chain(second.seen()).collect();
    all.sort_unstable();
    assert_eq!(all, (1..=20).map(|n| (n, 1)).collect::<Vec<_>>());
}

async fn a_row_that_is_gone_is_lost_and_the_service_goes_on(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    let gate = Arc::new(Semaphore::new(0));
    let script = gated(&gate);
    let running = start(&db, &script).await;
    eventually("both deliveries", async || script.seen().len() == 2).await;
    db.execute("DELETE FROM jobs WHERE id = 1").await;
    gate.add_permits(2);
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    publish(&db, 1).await;
    gate.add_permits(1);
    eventually("the next delivery", async || script.seen().len() == 3).await;
    running.shutdown().await.unwrap();
}
