//! Rows whose claim the database itself refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, eventually_within, stays, work_for};
use queue_table_tests::logged;
use queue_table_tests::queue::{
    Job, Script, Task, create_tables, scripted, scripted_bare, scripted_kept,
};
use queue_table_tests::refusal::{ids, mend, refuse};

use super::{Database, broker};

conformance![
    Database:
    a_row_whose_claim_is_refused_costs_the_others_nothing,
    rows_whose_claims_are_refused_cost_the_others_nothing,
    as_many_rows_as_are_left_out_cost_the_others_nothing,
    a_worker_alone_steps_past_rows_whose_claims_are_refused,
    a_row_is_tried_again_a_minute_after_its_claim_was_refused,
    a_text_names_the_row_whose_claim_is_refused,
    a_row_that_is_marked_when_it_is_done_is_stepped_past_too,
    a_retry_whose_claim_is_refused_does_not_hold_up_those_behind_it,
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
    db.value("SELECT count(*) FROM jobs WHERE kind = 'work'").await
}

/// Waits until the log names these rows of `all`, each once, and no other.
async fn logged_once(bad: &[i64], all: std::ops::Range<i64>) {
    let named = |row: &String| row.parse().ok().filter(|id| all.contains(id));
    let rows = eventually("the log names as many", async || {
        let rows: Vec<i64> = logged::rows("claim refused").iter().filter_map(named).collect();
        (rows.len() >= bad.len()).then_some(rows)
    });
    let mut rows = rows.await;
    rows.sort_unstable();
    assert_eq!(rows, bad);
}

/// Some of so many rows are refused; all others are acked, and those stay as they are.
async fn steps_past(db: &TestDb<Database>, rows: i64, workers: usize, bad: &[i64]) {
    let first = publish(db, rows).await;
    let bad: Vec<_> = bad.iter().map(|nth| first + nth - 1).collect();
    for id in &bad {
        db.execute(format!("UPDATE jobs SET note = 'bad' WHERE id = {id}")).await;
    }
    // Of another group, and nobody's business.
    db.execute("INSERT INTO jobs (kind, payload, note) VALUES ('other', '', 'bad')").await;
    refuse(db, "jobs", "OLD.note = 'bad'").await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(scripted.workers(workers));
    });
    let running = service.start().await.unwrap();
    let many = i64::try_from(bad.len()).unwrap();
    eventually("the others are done", async || left(db).await == many).await;
    logged_once(&bad, first..first + rows).await;
    running.shutdown().await.unwrap();
    let untouched = "SELECT id FROM jobs WHERE kind = 'work' AND attempt = 1 \
         AND locked_until IS NULL AND retry_after IS NULL AND last_error IS NULL ORDER BY id";
    let untouched: Vec<(i64,)> = db.rows(untouched).await;
    assert_eq!(untouched.into_iter().map(|row| row.0).collect::<Vec<_>>(), bad);
    let mut seen = script.seen();
    seen.sort_unstable();
    let good = (first..first + rows).filter(|id| !bad.contains(id));
    assert_eq!(seen, good.map(|id| (id, 1)).collect::<Vec<_>>());
}

async fn a_row_whose_claim_is_refused_costs_the_others_nothing(db: TestDb<Database>) {
    steps_past(&db, 30, 8, &[15]).await;
}

async fn rows_whose_claims_are_refused_cost_the_others_nothing(db: TestDb<Database>) {
    steps_past(&db, 30, 30, &[1, 15, 30]).await;
}

async fn as_many_rows_as_are_left_out_cost_the_others_nothing(db: TestDb<Database>) {
    // The first ones, and every third behind them.
    let bad: Vec<_> = (1..=20).chain((21..=150).step_by(3)).collect();
    steps_past(&db, 150, 8, &bad).await;
}

async fn a_worker_alone_steps_past_rows_whose_claims_are_refused(db: TestDb<Database>) {
    steps_past(&db, 30, 1, &[1, 2, 30]).await;
}

async fn a_row_is_tried_again_a_minute_after_its_claim_was_refused(db: TestDb<Database>) {
    let first = publish(&db, 30).await;
    let bad = first + 14;
    refuse(&db, "jobs", &format!("OLD.id = {bad}")).await;
    let shift = Arc::new(AtomicI64::new(0));
    let clock = HostClock::shifted(Arc::clone(&shift));
    let script = Script::always(Outcome::ack());
    let service =
        Service::new("test").state(script.clone()).with_broker(broker(&db).clock(clock), |b| {
            b.mount(scripted);
        });
    let running = service.start().await.unwrap();
    let refused = async |times| {
        let row = bad.to_string();
        eventually("the log says so", async || {
            logged::rows("claim refused").into_iter().filter(|it| *it == row).count() == times
        })
        .await;
    };
    eventually("the others are done", async || left(&db).await == 1).await;
    refused(1).await;
    shift.store(61_000_000, Ordering::Relaxed);
    refused(2).await;
    mend(&db, "jobs").await;
    stays("it is left out", Duration::from_millis(200), async || left(&db).await == 1).await;
    shift.store(122_000_000, Ordering::Relaxed);
    eventually("it is done too", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().last(), Some(&(bad, 1)));
    refused(2).await;
}

async fn a_text_names_the_row_whose_claim_is_refused(db: TestDb<Database>) {
    create_tables(&db).await;
    let first = ids();
    for n in first..first + 10 {
        let name = if n == first + 5 { "it's \"bad\"".to_owned() } else { format!("row {n}") };
        let sql = format!(
            "INSERT INTO bare_jobs (id, payload) VALUES ('{}', '{{\"n\":{n}}}')",
            name.replace('\'', "''")
        );
        db.execute(sql).await;
    }
    refuse(&db, "bare_jobs", "OLD.id LIKE '%bad%'").await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted_bare);
    });
    let running = service.start().await.unwrap();
    eventually("the others are done", async || {
        db.value::<i64>("SELECT count(*) FROM bare_jobs").await == 1
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 9);
}

async fn a_row_that_is_marked_when_it_is_done_is_stepped_past_too(db: TestDb<Database>) {
    create_tables(&db).await;
    let first = ids();
    for id in first..first + 10 {
        db.execute(format!("INSERT INTO kept_jobs (id, kind, due) VALUES ({id}, 'work', 0)")).await;
    }
    refuse(&db, "kept_jobs", &format!("OLD.id IN ({first}, {})", first + 9)).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted_kept);
    });
    let running = service.start().await.unwrap();
    let done = "SELECT count(*) FROM kept_jobs WHERE done IS NOT NULL";
    eventually("the others are done", async || db.value::<i64>(done).await == 8).await;
    logged_once(&[first, first + 9], first..first + 10).await;
    running.shutdown().await.unwrap();
}

async fn a_retry_whose_claim_is_refused_does_not_hold_up_those_behind_it(db: TestDb<Database>) {
    let first = publish(&db, 2000).await;
    let last = first + 1999;
    let (before, past) = (<Database as Db>::now_plus(-60), <Database as Db>::now_plus(-50));
    db.execute(format!("UPDATE jobs SET retry_after = {before} WHERE id = {first}")).await;
    db.execute(format!("UPDATE jobs SET retry_after = {past}, attempt = 2 WHERE id = {last}"))
        .await;
    refuse(&db, "jobs", &format!("OLD.id = {first}")).await;
    let script = Script::new(async |_| {
        work_for(Duration::from_millis(20)).await;
        Outcome::ack()
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.poll_interval(Duration::from_secs(3600)).workers(4));
    });
    let running = service.start().await.unwrap();
    eventually_within(Duration::from_secs(8), "the retry behind it", async || {
        script.seen().contains(&(last, 2))
    })
    .await;
    assert!(script.seen().len() < 1900, "before the backlog was done");
    logged_once(&[first], first..last + 1).await;
    running.shutdown().await.unwrap();
}
