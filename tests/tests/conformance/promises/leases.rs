//! Leases: what holds a row, what renews it, what becomes of one that is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Job, Script, create_tables, scripted, scripted_bare};
use tokio::sync::Semaphore;

use super::services::rows;
use super::{Database, broker, publish, start};

conformance![
    Database:
    a_lease_is_renewed_while_its_handler_runs,
    a_lease_that_ran_out_is_claimed_again_and_counted,
    a_handler_is_told_that_it_lost_its_row,
    a_stale_holders_settlement_changes_nothing,
    nobody_else_claims_a_leased_row,
    a_row_that_is_gone_is_lost_and_the_service_goes_on,
    the_row_shows_its_lease,
    the_longest_lease_is_only_long,
    a_row_that_killed_its_process_is_a_dead_letter_unseen,
    an_undecodable_row_of_a_table_without_delays_is_kept_back,
    rows_that_nobody_started_are_given_back,
    a_subscription_works_with_one_connection,
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

#[subscriber(Job, group = "work")]
async fn shown(row: &Job) -> Outcome {
    if row.locked_until.is_some() { Outcome::ack() } else { Outcome::retry() }
}

async fn the_row_shows_its_lease(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(shown);
    });
    let running = service.start().await.unwrap();
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
}

async fn the_longest_lease_is_only_long(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::always(Outcome::ack());
    let running = with_lease(&db, &script, Duration::MAX).await;
    eventually("no row is left", async || rows(&db).await.is_empty()).await;
    running.shutdown().await.unwrap();
}

const DEAD: &str = "SELECT count(*) FROM jobs WHERE kind = 'failed'";

async fn a_row_that_killed_its_process_is_a_dead_letter_unseen(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    // What three claims leave whose processes died: counted, and the lease ran out.
    db.execute("UPDATE jobs SET attempt = 4 WHERE id = 1").await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.max_attempts(3).dead_letter_group("failed"));
    });
    let running = service.start().await.unwrap();
    eventually("the row is a dead letter", async || db.value::<i64>(DEAD).await == 1).await;
    eventually("its neighbour ran", async || script.seen() == [(2, 1)]).await;
    running.shutdown().await.unwrap();
    let reason: String = db.value("SELECT last_error FROM jobs").await;
    assert!(reason.contains("its process died"), "{reason}");
}

async fn an_undecodable_row_of_a_table_without_delays_is_kept_back(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute("INSERT INTO bare_jobs (id, payload) VALUES ('bad', '{{'), ('good', '{\"n\":1}')")
        .await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        // One worker, which must be free for the good row behind.
        let hour = DecodeFailure::RetryAfter(Duration::from_secs(3600));
        b.mount(scripted_bare.workers(1).on_decode_failure(hour));
    });
    let running = service.start().await.unwrap();
    let held = "SELECT count(*) FROM bare_jobs WHERE until IS NOT NULL";
    eventually("the good row is done and the bad one is held", async || {
        db.value::<i64>("SELECT count(*) FROM bare_jobs").await == 1
            && db.value::<i64>(held).await == 1
    })
    .await;
    let lease = "SELECT until FROM bare_jobs";
    let until: i64 = db.value(lease).await;
    stays("it is not claimed again and again", Duration::from_millis(300), async || {
        db.value::<i64>(lease).await == until
    })
    .await;
    running.shutdown().await.unwrap();
    let free = "SELECT count(*) FROM bare_jobs WHERE until IS NULL";
    assert_eq!(db.value::<i64>(free).await, 1, "the end of the service sets it free");
}

async fn rows_that_nobody_started_are_given_back(db: TestDb<Database>) {
    create_tables(&db).await;
    let gate = Arc::new(Semaphore::new(0));
    // Quick rows let the buffer grow; the slow one at the end leaves rows in it.
    let held = Arc::clone(&gate);
    let script = Script::new(move |seen| {
        let gate = Arc::clone(&held);
        async move {
            if seen.n > 100 {
                gate.acquire().await.unwrap().forget();
            }
            Outcome::ack()
        }
    });
    publish(&db, 160).await;
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.workers(4));
    });
    let running = service.drain_timeout(Duration::from_secs(10)).start().await.unwrap();
    let buffered = async || {
        let leased = rows(&db).await.iter().filter(|(.., leased)| *leased).count();
        leased > 4 && script.seen().iter().filter(|(n, _)| *n > 100).count() == 4
    };
    eventually("all workers are busy, and more rows are leased", buffered).await;
    let shutdown = tokio::spawn(running.shutdown());
    eventually("only the rows in work are leased", async || {
        rows(&db).await.iter().filter(|(.., leased)| *leased).count() == 4
    })
    .await;
    gate.add_permits(1000);
    shutdown.await.unwrap().unwrap();
    let left = rows(&db).await;
    assert_eq!(left.len(), 56, "four of the slow ones were acked");
    assert!(left.iter().all(|(_, attempt, leased)| *attempt == 1 && !leased), "{left:?}");
}

async fn a_subscription_works_with_one_connection(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 200).await;
    let script = Script::always(Outcome::ack());
    let one = broker(&db).connection_limit(1);
    let service = Service::new("test").state(script).with_broker(one, |b| {
        b.mount(scripted.lease(Duration::from_millis(300)));
    });
    let running = service.start().await.unwrap();
    eventually("no row is left", async || rows(&db).await.is_empty()).await;
    running.shutdown().await.unwrap();
}
