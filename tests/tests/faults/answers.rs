//! Statements that the server ran and whose answers are lost.

use std::collections::BTreeMap;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, eventually_within, stays};
use queue_table_tests::logged;
use queue_table_tests::proxy::{Cut, Proxy, Way};
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use sqlx::Postgres;

use crate::gate::{Gate, count_deletes, deletes, left};
use crate::locked::publish;
use crate::network::behind;

conformance![
    Postgres:
    an_ack_whose_answer_is_lost_is_done_and_not_repeated,
    an_ack_that_commits_after_it_was_sent_again_is_not_called_lost,
    an_ack_that_the_server_never_saw_is_sent_again,
    a_retry_whose_answer_is_lost_is_one_more_delivery,
    a_renewal_whose_answer_is_lost_costs_no_delivery,
    each_row_is_settled_once_although_connections_are_terminated,
];

const LEASE: Duration = Duration::from_secs(60);
/// An answer that is cut off before it comes.
const NEVER: Duration = Duration::from_secs(60);

/// Cuts what is on its way, and lets what comes after it through.
fn cut_answers(proxy: &Proxy) {
    proxy.delay(Way::ToClient, Duration::ZERO);
    proxy.cut(Cut::Reset);
}

/// Makes the server take a second for a change of a row, so that its answer can be stopped.
async fn slow_down(db: &TestDb<Postgres>, event: &str, condition: &str) {
    let row = if event == "DELETE" { "OLD" } else { "NEW" };
    db.execute(format!(
        "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN PERFORM pg_sleep(1); RETURN {row}; END'; \
         CREATE TRIGGER slowly BEFORE {event} ON jobs \
         FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION slowly()"
    ))
    .await;
}

/// Lets the server run the slow statement and stops its answer.
async fn stop_the_answer(db: &TestDb<Postgres>, proxy: &Proxy) {
    it_runs(db).await;
    proxy.delay(Way::ToClient, NEVER);
}

async fn it_runs(db: &TestDb<Postgres>) {
    eventually("the server runs it", async || {
        let slow = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' \
             AND application_name = current_setting('application_name')";
        db.value::<i64>(slow).await > 0
    })
    .await;
}

async fn an_ack_whose_answer_is_lost_is_done_and_not_repeated(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, LEASE).await;
    slow_down(&db, "DELETE", "OLD.kind = 'work'").await;
    count_deletes(&db).await;
    publish(&db, 1).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    gate.open_to(1);
    stop_the_answer(&db, &proxy).await;
    eventually("the server ran it", async || left(&db).await == 0).await;
    // Whoever takes the same id for the same row would settle this one.
    let same_id = Job::message(&Task { n: 1 }).group("other").id(1);
    same_id.insert(db.pool()).await.unwrap();
    cut_answers(&proxy);
    publish_next(&db).await;
    gate.open_to(2);
    eventually("the service goes on", async || script.seen().len() == 2).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (2, 1)]);
    assert_eq!(left(&db).await, 1, "the other row is left alone");
    assert_eq!(deletes(&db).await, 2, "one for each delivery");
}

async fn an_ack_that_commits_after_it_was_sent_again_is_not_called_lost(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, LEASE).await;
    slow_down(&db, "DELETE", "true").await;
    let id = logged::ids(1);
    Job::message(&Task { n: 1 }).group("work").id(id).insert(db.pool()).await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;
    gate.open_to(1);
    it_runs(&db).await;
    // The server does not notice: it goes on, and holds the row while it is looked up and the ack
    // is sent again.
    proxy.cut(Cut::Reset);
    eventually("the server ran it", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
    assert_eq!(logged::of_row("lease lost", id), [], "its outcome is in the table");
}

/// Puts the row 2 into group `work`.
async fn publish_next(db: &TestDb<Postgres>) {
    let next = Job::message(&Task { n: 2 }).group("work").id(2);
    next.insert(db.pool()).await.unwrap();
}

async fn an_ack_that_the_server_never_saw_is_sent_again(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, LEASE).await;
    publish(&db, 1).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    proxy.freeze();
    gate.open_to(1);
    stays("nothing reaches the server", Duration::from_millis(200), async || left(&db).await == 1)
        .await;
    proxy.cut(Cut::Reset);
    proxy.unfreeze();
    eventually("the row is settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
}

async fn a_retry_whose_answer_is_lost_is_one_more_delivery(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then(|_, attempt| match attempt {
        1 => Outcome::retry().because("once"),
        _ => Outcome::ack(),
    });
    let (proxy, running) = behind(&db, &script, Duration::from_secs(4)).await;
    slow_down(&db, "UPDATE", "OLD.last_error IS NULL AND NEW.last_error IS NOT NULL").await;
    publish(&db, 1).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    gate.open_to(1);
    stop_the_answer(&db, &proxy).await;
    eventually("the server ran it", async || {
        db.value::<Option<String>>("SELECT last_error FROM jobs").await.is_some()
    })
    .await;
    cut_answers(&proxy);
    eventually("the row is settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    // A claim of the same moment may have lost its answer as well: then the second is counted as
    // the third.
    assert!(matches!(script.seen()[..], [(1, 1), (1, 2 | 3)]), "{:?}", script.seen());
}

async fn a_renewal_whose_answer_is_lost_costs_no_delivery(db: TestDb<Postgres>) {
    let gate = Gate::closed();
    let script = gate.then_ack();
    let (proxy, running) = behind(&db, &script, Duration::from_secs(4)).await;
    slow_down(&db, "UPDATE", "OLD.attempt = NEW.attempt").await;
    publish(&db, 1).await;
    eventually("the delivery", async || script.seen().len() == 1).await;
    let lease = "SELECT CAST(locked_until AS text) FROM jobs";
    let first: String = db.value(lease).await;
    stop_the_answer(&db, &proxy).await;
    eventually("the server renewed it", async || db.value::<String>(lease).await != first).await;
    cut_answers(&proxy);
    let second: String = db.value(lease).await;
    eventually("it is renewed again", async || db.value::<String>(lease).await != second).await;
    gate.open_to(1);
    eventually("the row is settled", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1)]);
    assert_eq!(gate.lost(), 0);
}

async fn each_row_is_settled_once_although_connections_are_terminated(db: TestDb<Postgres>) {
    create_tables(&db).await;
    let rows = 5000;
    publish(&db, rows).await;
    let script = Script::always(Outcome::ack());
    // A name of its own, so that the test's own sessions live on.
    let url = format!("{}_terminated", db.url());
    let broker = SqlxBroker::<Postgres>::from_url(url);
    let service = Service::new("terminated").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.lease(Duration::from_secs(3)));
    });
    let running = service.start().await.unwrap();
    let mut terminated = 0;
    let mut next = rows - 100;
    eventually_within(Duration::from_secs(60), "no row is left", async || {
        let left = left(&db).await;
        // Again and again, but never before some work was done in between.
        if left <= next {
            let sessions = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                 WHERE application_name = current_setting('application_name') || '_terminated'";
            terminated += db.value::<i64>(sessions).await;
            next = left - 100;
        }
        left == 0
    })
    .await;
    running.shutdown().await.unwrap();
    assert!(terminated >= 5, "only {terminated} sessions were terminated");
    let mut runs: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for (n, attempt) in script.seen() {
        runs.entry(n).or_default().push(attempt);
    }
    assert_eq!(runs.len(), 5000, "every row ran");
    // A claim without an answer counts a delivery that no handler saw; none ran twice.
    let again = runs.iter().find(|(_, attempts)| attempts.len() > 1);
    assert_eq!(again, None, "a row and its deliveries");
}
