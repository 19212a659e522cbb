//! Statements that the database runs without an error and without an effect: a trigger keeps a row
//! as it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::logged::{self, Fields};
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use queue_table_tests::stands::Kind;
use tokio::sync::watch;

use super::{Database, broker};

conformance![
    Database:
    a_row_that_a_trigger_keeps_is_told_once_and_costs_the_others_nothing,
    a_lease_that_a_trigger_keeps_is_told,
];

const ROWS: i64 = 10;

/// Puts rows into group `work` and returns the id of the first.
async fn publish(db: &TestDb<Database>) -> i64 {
    let first = logged::ids(ROWS);
    let ids = first..first + ROWS;
    let tasks: Vec<_> = ids.clone().map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(ids).insert(db.pool()).await.unwrap();
    first
}

/// Keeps one row as it is whenever `condition` holds of an `event`, and says nothing of it.
async fn suppress(db: &TestDb<Database>, event: &str, id: i64, condition: &str) {
    let when = format!("(OLD.id = {id} AND {condition})");
    db.execute(match Database::KIND {
        Kind::Postgres => format!(
            "CREATE FUNCTION keep_{id}() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN RETURN NULL; END'; \
             CREATE TRIGGER keep_{id} BEFORE {event} ON jobs FOR EACH ROW WHEN {when} \
             EXECUTE FUNCTION keep_{id}()"
        ),
        Kind::Sqlite => format!(
            "CREATE TRIGGER keep_{id} BEFORE {event} ON jobs WHEN {when} \
             BEGIN SELECT RAISE(IGNORE); END"
        ),
    })
    .await;
}

async fn release(db: &TestDb<Database>, id: i64) {
    db.execute(match Database::KIND {
        Kind::Postgres => format!("DROP TRIGGER keep_{id} ON jobs"),
        Kind::Sqlite => format!("DROP TRIGGER keep_{id}"),
    })
    .await;
}

/// A handler that acks once the test lets it.
fn gated(gate: &watch::Sender<bool>) -> Script {
    let gate = gate.clone();
    Script::new(move |_| {
        let mut open = gate.subscribe();
        async move {
            open.wait_for(|open| *open).await.unwrap();
            Outcome::ack()
        }
    })
}

/// The statements that were said to have no effect on a row.
fn told(id: i64) -> Vec<String> {
    let events = logged::of_row("statement without effect", id).into_iter();
    let statement = |mut event: Fields| {
        assert_eq!(event.remove("table").as_deref(), Some("\"jobs\""));
        let help = event.remove("help").unwrap_or_default();
        assert!(help.contains("a trigger or a rule"), "{help}");
        event.remove("statement").unwrap_or_default()
    };
    events.map(statement).collect()
}

async fn a_row_that_a_trigger_keeps_is_told_once_and_costs_the_others_nothing(
    db: TestDb<Database>,
) {
    create_tables(&db).await;
    let kept = publish(&db).await;
    let released = kept + 1;
    for id in [kept, released] {
        suppress(&db, "DELETE", id, "true").await;
    }
    let gate = watch::Sender::new(false);
    let script = gated(&gate);
    let shift = Arc::new(AtomicI64::new(0));
    let broker = broker(&db).clock(HostClock::shifted(Arc::clone(&shift)));
    let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(10));
    });
    let running = service.start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 10).await;
    let leases = format!(
        "SELECT id, CAST(locked_until AS text) FROM jobs WHERE id <= {released} ORDER BY id"
    );
    let before: Vec<(i64, String)> = db.rows(leases.as_str()).await;
    gate.send_replace(true);
    eventually("the others are settled", async || {
        db.value::<i64>("SELECT count(*) FROM jobs").await == 2
    })
    .await;
    eventually("it is told", async || !told(kept).is_empty() && !told(released).is_empty()).await;
    stays("it is told once, and its lease goes on", Duration::from_millis(1200), async || {
        let same = db.rows::<(i64, String)>(leases.as_str()).await == before;
        same && told(kept) == ["\"ack\""] && told(released) == ["\"ack\""]
    })
    .await;

    release(&db, released).await;
    eventually("it is still asked again", async || {
        db.rows::<(i64, String)>(leases.as_str()).await == before[..1]
    })
    .await;
    assert_eq!(script.seen().len(), 10, "each ran once");
    assert_eq!(told(kept).len(), 1);
    shift.store(3_600_000_000, Ordering::Relaxed);
    eventually("it runs again after its lease", async || script.seen().contains(&(kept, 2))).await;
    release(&db, kept).await;
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
    assert!(!script.seen().contains(&(released, 2)), "what was settled late ran once");
}

async fn a_lease_that_a_trigger_keeps_is_told(db: TestDb<Database>) {
    create_tables(&db).await;
    let kept = publish(&db).await;
    suppress(&db, "UPDATE", kept, "OLD.attempt = NEW.attempt").await;
    let gate = watch::Sender::new(false);
    let script = gated(&gate);
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.workers(10).lease(Duration::from_secs(3)));
    });
    let running = service.start().await.unwrap();
    eventually("it is told", async || !told(kept).is_empty()).await;
    assert_eq!(told(kept), ["\"renew\""]);
    gate.send_replace(true);
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    running.shutdown().await.unwrap();
    assert!((kept + 1..kept + ROWS).all(|id| told(id).is_empty()), "the others are renewed");
}
