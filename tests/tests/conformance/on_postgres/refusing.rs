//! What a claim that the database refuses costs; only PostgreSQL's triggers can count it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::logged;
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use queue_table_tests::refusal::{ids, mend, refusals, refuse};

use super::Database;

conformance![
    Database:
    a_refused_row_costs_few_statements_and_then_one_a_minute,
    more_refused_rows_than_can_be_left_out_make_no_hot_loop,
    a_statement_that_is_refused_blames_no_row,
    a_claim_that_is_refused_for_its_size_blames_no_row,
    a_row_that_breaks_a_check_is_stepped_past,
    processes_side_by_side_blame_no_other_row,
];

/// Makes the tables, with so many rows in group `work` of `jobs`; returns the first id.
async fn publish(db: &TestDb<Database>, rows: i64) -> i64 {
    create_tables(db).await;
    let first = ids();
    let tasks: Vec<_> = (first..first + rows).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(first..first + rows).insert(db.pool()).await.unwrap();
    first
}

async fn left(db: &TestDb<Database>) -> i64 {
    db.value("SELECT count(*) FROM jobs").await
}

/// The rows from `first` on that the log names, a thousand at most.
fn blamed(first: i64) -> Vec<i64> {
    let named = |row: &String| row.parse().ok().filter(|id| (first..first + 1000).contains(id));
    logged::rows("claim refused").iter().filter_map(named).collect()
}

fn service(db: &TestDb<Database>, clock: HostClock) -> Service {
    let script = Script::always(Outcome::ack());
    let broker = SqlxBroker::<Database>::from_url(db.url()).clock(clock);
    Service::new("test").state(script).with_broker(broker, |b| {
        b.mount(scripted.workers(16));
    })
}

async fn a_refused_row_costs_few_statements_and_then_one_a_minute(db: TestDb<Database>) {
    let first = publish(&db, 1000).await;
    let bad = first + 700;
    refuse(&db, "jobs", &format!("OLD.id = {bad}")).await;
    let shift = Arc::new(AtomicI64::new(0));
    let running = service(&db, HostClock::shifted(Arc::clone(&shift))).start().await.unwrap();
    eventually("the others are done", async || left(&db).await == 1).await;
    eventually("the row is found", async || blamed(first) == [bad]).await;
    // The claim that met it, its halves, and the row alone: of at most 516 rows.
    let found = refusals(&db).await;
    assert!(found <= 1 + 10 + 1, "{found} refusals");
    // Polls come every 50 ms.
    for minute in 1..=2 {
        stays("it is left out", Duration::from_millis(300), async || {
            refusals(&db).await == found + minute - 1
        })
        .await;
        shift.store(minute * 61_000_000, Ordering::Relaxed);
        eventually("it is tried again", async || refusals(&db).await == found + minute).await;
    }
    running.shutdown().await.unwrap();
    assert_eq!(blamed(first), [bad; 3]);
}

async fn more_refused_rows_than_can_be_left_out_make_no_hot_loop(db: TestDb<Database>) {
    let first = publish(&db, 200).await;
    refuse(&db, "jobs", "OLD.id > 0").await;
    let running = service(&db, HostClock::default()).start().await.unwrap();
    eventually("many are left out", async || blamed(first).len() >= 64).await;
    let before = refusals(&db).await;
    // Pauses of 50, 100, 200, 400 ms, less a quarter: five rounds of six statements, and some.
    stays("it is asked rarely", Duration::from_millis(600), async || {
        refusals(&db).await < before + 60
    })
    .await;
    mend(&db, "jobs").await;
    eventually("the rows behind are done", async || left(&db).await == 64).await;
    running.shutdown().await.unwrap();
}

async fn a_statement_that_is_refused_blames_no_row(db: TestDb<Database>) {
    let first = publish(&db, 30).await;
    db.execute(
        "CREATE SEQUENCE refusals; \
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM nextval('refusals'); RAISE EXCEPTION 'closed'; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE ON jobs \
         FOR EACH STATEMENT EXECUTE FUNCTION refuse()",
    )
    .await;
    let running = service(&db, HostClock::default()).start().await.unwrap();
    eventually("some refusals", async || refusals(&db).await >= 6).await;
    mend(&db, "jobs").await;
    eventually("all rows are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert!(blamed(first).is_empty());
    assert!(refusals(&db).await < 20, "two statements, then a pause that grows");
}

async fn a_claim_that_is_refused_for_its_size_blames_no_row(db: TestDb<Database>) {
    let first = publish(&db, 100).await;
    db.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN IF (SELECT count(*) FROM taken) > 2 THEN RAISE EXCEPTION 'too many'; END IF; \
         RETURN NULL; END $$; \
         CREATE TRIGGER refuse AFTER UPDATE ON jobs REFERENCING NEW TABLE AS taken \
         FOR EACH STATEMENT EXECUTE FUNCTION refuse()",
    )
    .await;
    let running = service(&db, HostClock::default()).start().await.unwrap();
    eventually("all rows are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert!(blamed(first).is_empty());
}

async fn a_row_that_breaks_a_check_is_stepped_past(db: TestDb<Database>) {
    let first = publish(&db, 30).await;
    let bad = first + 14;
    db.execute(format!(
        "UPDATE jobs SET note = 'bad' WHERE id = {bad}; \
         ALTER TABLE jobs ADD CONSTRAINT sane CHECK (note IS NULL) NOT VALID"
    ))
    .await;
    let running = service(&db, HostClock::default()).start().await.unwrap();
    eventually("the others are done", async || left(&db).await == 1).await;
    eventually("the row is found", async || blamed(first) == [bad]).await;
    running.shutdown().await.unwrap();
    let attempt = "SELECT attempt FROM jobs WHERE locked_until IS NULL";
    assert_eq!(db.value::<i64>(attempt).await, 1);
}

/// Each skips what the other has locked for a moment, and so sees another row as the first one.
async fn processes_side_by_side_blame_no_other_row(db: TestDb<Database>) {
    let first = publish(&db, 1000).await;
    let bad = [first, first + 3, first + 500];
    refuse(&db, "jobs", &format!("OLD.id IN ({}, {}, {})", bad[0], bad[1], bad[2])).await;
    // Long enough for the others to see it locked.
    db.execute(
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_sleep(0.02); RAISE EXCEPTION 'not this one'; END $$",
    )
    .await;
    let mut running = Vec::new();
    for _ in 0..4 {
        running.push(service(&db, HostClock::default()).start().await.unwrap());
    }
    eventually("the others are done", async || left(&db).await == 3).await;
    for running in running {
        running.shutdown().await.unwrap();
    }
    let blamed = blamed(first);
    assert!(blamed.iter().all(|id| bad.contains(id)), "{blamed:?}");
}
