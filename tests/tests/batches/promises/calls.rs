//! Handlers of batches: what they are given, and what they say.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::batches::BatchScript;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::Task;
use queue_table_tests::{conformance, logged};
use tokio::sync::watch;

use super::queue::{
    BareJob, FREE, Job, batched, batched_bare, batched_rows, create_tables, in_work,
};
use super::{Database, broker, left, publish, start};

conformance![
    Database:
    a_call_takes_what_is_there_in_order_and_never_waits_for_more,
    a_mount_can_change_the_size_of_the_batch,
    a_batch_of_nothing_and_one_without_end_are_refused,
    each_row_gets_its_own_outcome,
    one_outcome_is_for_all_rows,
    an_error_is_about_all_rows,
    a_wrong_number_of_outcomes_is_a_retry_of_all,
    rows_of_a_table_that_does_not_count_stay_together,
    claims_are_what_the_workers_can_take,
    a_call_has_a_span,
];

async fn a_call_takes_what_is_there_in_order_and_never_waits_for_more(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 25).await;
    let script = BatchScript::ack();
    let running = start(&db, &script).await;
    eventually("all rows are done", async || left(&db).await == 0).await;
    Job::message(&Task { n: 26 }).group("work").insert(db.pool()).await.unwrap().wake();
    eventually("one alone too", async || script.calls().last() == Some(&vec![26])).await;
    running.shutdown().await.unwrap();
    let calls = script.calls();
    assert_eq!(calls[0], (1..=10).collect::<Vec<_>>(), "a full call");
    assert!(calls.iter().all(|rows| rows.len() <= 10), "{calls:?}");
    assert_eq!(script.rows(), (1..=26).collect::<Vec<_>>());
}

async fn a_mount_can_change_the_size_of_the_batch(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 4).await;
    let script = BatchScript::ack();
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched_rows.workers(1).batch(3));
    });
    let running = service.start().await.unwrap();
    eventually("all rows are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.calls(), [vec![1, 2, 3], vec![4]]);
}

async fn a_batch_of_nothing_and_one_without_end_are_refused(db: TestDb<Database>) {
    create_tables(&db).await;
    for rows in [0, 10_001] {
        let service =
            Service::new("test").state(BatchScript::ack()).with_broker(broker(&db), |b| {
                b.mount(batched.batch(rows));
            });
        let error = service.start().await.unwrap_err().to_string();
        assert!(error.contains("`batch` must be from 1 to 10000 rows a call"), "{error}");
    }
}

async fn each_row_gets_its_own_outcome(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 6).await;
    let script = BatchScript::each(|n| match n {
        2 => Outcome::drop(),
        3 => Outcome::retry_after(Duration::from_secs(3600)).because("row 3 is early"),
        4 => Outcome::retry().because("row 4 is bad"),
        5 => Outcome::retry_after(Duration::from_secs(7200)).because("row 5 is early"),
        _ => Outcome::ack(),
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched.workers(1).max_attempts(2).dead_letter_group("failed"));
    });
    let running = service.start().await.unwrap();
    let (soon, late) = (Database::now_plus(3500), Database::now_plus(3700));
    let as_said = format!(
        "SELECT id, kind, last_error, CASE WHEN retry_after IS NULL THEN 'now' \
         WHEN retry_after BETWEEN {soon} AND {late} THEN 'soon' ELSE 'late' END \
         FROM jobs WHERE {FREE} ORDER BY id"
    );
    let expected = [
        (3, "work", "row 3 is early", "soon"),
        (4, "failed", "row 4 is bad", "now"),
        (5, "work", "row 5 is early", "late"),
    ];
    let expected = expected
        .map(|(id, kind, reason, due)| (id, kind.to_owned(), reason.to_owned(), due.to_owned()));
    eventually("each is settled as it was said", async || {
        let rows: Vec<(i64, String, Option<String>, String)> = db.rows(as_said.as_str()).await;
        let rows = rows
            .into_iter()
            .map(|(id, kind, reason, due)| (id, kind, reason.unwrap_or_default(), due));
        rows.eq(expected.iter().cloned())
    })
    .await;
    running.shutdown().await.unwrap();
    // The retry is delivered again, alone, and its second is its last delivery.
    assert_eq!(script.calls(), [(1..=6).collect(), vec![4]]);
}

#[subscriber(Job, group = "work", batch = 10, poll_interval = "50ms")]
async fn all_alike(rows: &[Job]) -> Outcome {
    let first = rows.iter().map(|row| row.id).min().unwrap_or_default();
    Outcome::retry_after(Duration::from_secs(3600)).because(format_args!("like row {first}"))
}

async fn one_outcome_is_for_all_rows(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(all_alike);
    });
    let running = service.start().await.unwrap();
    let alike = "SELECT count(*) FROM jobs WHERE last_error = 'like row 1'";
    eventually("all are put off", async || db.value::<i64>(alike).await == 3).await;
    running.shutdown().await.unwrap();
}

fn count(error: &usize, meta: &Meta) -> Outcome {
    let reason = format!("{error} rows failed in delivery {}", meta.attempt());
    Outcome::retry_after(Duration::from_secs(3600)).because(reason)
}

#[subscriber(
    Job,
    group = "work",
    batch = 10,
    poll_interval = "50ms",
    on_error = count
)]
async fn breaking(tasks: &[Task]) -> Result<Vec<Outcome>, usize> {
    Err(tasks.len())
}

async fn an_error_is_about_all_rows(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(breaking);
    });
    let running = service.start().await.unwrap();
    let failed = "SELECT count(*) FROM jobs WHERE last_error = '3 rows failed in delivery 1'";
    eventually("all are put off", async || db.value::<i64>(failed).await == 3).await;
    running.shutdown().await.unwrap();
}

async fn a_wrong_number_of_outcomes_is_a_retry_of_all(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 3).await;
    let script = BatchScript::new(async |_| vec![Outcome::ack()]);
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched.workers(1).max_attempts(1).dead_letter_group("failed"));
    });
    let running = service.start().await.unwrap();
    let reason = "the handler returned 1 outcomes for 3 rows; return one a row";
    let dead =
        format!("SELECT count(*) FROM jobs WHERE kind = 'failed' AND last_error = '{reason}'");
    eventually("none is acked", async || db.value::<i64>(dead.as_str()).await == 3).await;
    running.shutdown().await.unwrap();
}

async fn rows_of_a_table_that_does_not_count_stay_together(db: TestDb<Database>) {
    create_tables(&db).await;
    let tasks: Vec<_> = (1..=4).map(|n| Task { n }).collect();
    let ids = (1..=4).map(|n| n.to_string());
    BareJob::messages(&tasks).ids(ids).insert(db.pool()).await.unwrap();
    let first = watch::Sender::new(true);
    let script = BatchScript::new(move |call| {
        let retry = first.send_replace(false);
        let outcome = if retry { Outcome::retry() } else { Outcome::ack() };
        std::future::ready(vec![outcome; call.rows.len()])
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched_bare.workers(1));
    });
    let running = service.start().await.unwrap();
    eventually("all rows are done", async || {
        db.value::<i64>("SELECT count(*) FROM bare_jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.calls(), [vec![1, 2, 3, 4], vec![1, 2, 3, 4]]);
}

async fn claims_are_what_the_workers_can_take(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 50).await;
    let open = watch::Sender::new(false);
    let held = open.clone();
    let script = BatchScript::new(move |call| {
        let mut open = held.subscribe();
        async move {
            open.wait_for(|open| *open).await.unwrap();
            vec![Outcome::ack(); call.rows.len()]
        }
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(batched.workers(3));
    });
    let running = service.start().await.unwrap();
    eventually("every worker is busy", async || script.calls().len() == 3).await;
    let claimed = format!("SELECT count(*) FROM jobs WHERE {} = 1", in_work::<Database>());
    assert_eq!(db.value::<i64>(claimed).await, 30, "no handler has ended, so nothing is buffered");
    assert!(script.calls().iter().all(|rows| rows.len() == 10), "{:?}", script.calls());
    open.send_replace(true);
    eventually("all rows are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
}

#[subscriber(Job, group = "work", batch = 10, workers = 1)]
async fn spanned(_rows: &[Job]) {}

async fn a_call_has_a_span(db: TestDb<Database>) {
    create_tables(&db).await;
    logged::listen();
    publish(&db, 7).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(spanned);
    });
    let running = service.start().await.unwrap();
    eventually("all rows are done", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    let spans = logged::batches("spanned");
    let span = spans.iter().find(|span| span["messaging.batch.message_count"] == "7").unwrap();
    assert_eq!(span["messaging.destination.name"], "\"jobs\"");
    assert_eq!(span["messaging.operation.name"], "\"process\"");
}
