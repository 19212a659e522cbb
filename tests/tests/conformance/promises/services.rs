//! How services start, drain and end.

use std::sync::Arc;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table::{Error, SqlxBrokerError};
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use tokio::sync::Semaphore;

use super::queue::{
    COLUMNS, Job, Script, Task, create_tables, in_work, scripted, scripted_bare, scripted_kept,
};
use super::{Database, broker, publish};

conformance![
    Database:
    everything_that_is_missing_is_found_at_once,
    a_state_that_is_missing_is_named_before_anything_starts,
    a_second_subscription_to_a_group_is_refused,
    a_dead_letter_group_is_not_the_own_one,
    a_cap_that_the_column_cannot_count_to_is_refused,
    the_longest_times_are_only_long,
    a_handler_within_the_drain_timeout_ends,
    a_handler_past_the_drain_timeout_is_aborted_and_its_row_given_back,
    a_dropped_service_gives_its_rows_back,
    a_table_that_is_dropped_ends_the_subscription_and_the_service,
    a_shared_pool_works_and_stays_open,
];

async fn everything_that_is_missing_is_found_at_once(db: TestDb<Database>) {
    db.execute("CREATE TABLE jobs (id bigint PRIMARY KEY, kind text, payload text)").await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker(&db), |b| {
        b.mount(scripted);
        b.mount(scripted_bare);
    });
    let error = service.start().await.unwrap_err();
    let text = error.to_string();
    let Error::StartUp { errors, .. } = error else { panic!("{error}") };
    assert_eq!(errors.len(), 2, "one for each subscription");
    for column in COLUMNS.into_iter().chain(["note"]) {
        assert!(text.contains(&format!("the column `{column}`")), "{column} in {text}");
    }
    assert!(text.contains("the table `bare_jobs` does not exist"), "{text}");
    assert!(text.contains("`scripted`") && text.contains("`scripted_bare`"), "{text}");
}

async fn a_state_that_is_missing_is_named_before_anything_starts(db: TestDb<Database>) {
    create_tables(&db).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(scripted);
    });
    let error = service.start().await.unwrap_err().to_string();
    assert!(error.contains("`scripted` takes `State<") && error.contains("Script>`"), "{error}");
    assert!(error.contains(".state(..)"), "{error}");
}

async fn a_second_subscription_to_a_group_is_refused(db: TestDb<Database>) {
    create_tables(&db).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker(&db), |b| {
        b.mount(scripted);
        b.mount(scripted.group("other"));
        b.mount(scripted.workers(2));
    });
    let Error::StartUp { errors, .. } = service.start().await.unwrap_err() else { panic!() };
    assert!(matches!(&errors[..], [SqlxBrokerError::AlreadySubscribed { .. }]), "{errors:?}");
}

async fn a_dead_letter_group_is_not_the_own_one(db: TestDb<Database>) {
    create_tables(&db).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker(&db), |b| {
        b.mount(scripted.max_attempts(3).dead_letter_group("work"));
    });
    let error = service.start().await.unwrap_err().to_string();
    assert!(error.contains("the subscription's own group"), "{error}");
}

async fn a_cap_that_the_column_cannot_count_to_is_refused(db: TestDb<Database>) {
    create_tables(&db).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker(&db), |b| {
        b.mount(scripted_kept.max_attempts(32_767).dead_letter_group("failed"));
    });
    let error = service.start().await.unwrap_err().to_string();
    assert!(error.contains("counts no further than 32767"), "{error}");
}

async fn the_longest_times_are_only_long(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker(&db), |b| {
        let long = Duration::MAX;
        b.mount(scripted.poll_interval(long).timeout(long));
    });
    let running = service.drain_timeout(Duration::MAX).start().await.unwrap();
    eventually("no row is left", async || rows(&db).await.is_empty()).await;
    running.shutdown().await.unwrap();
}

/// Rows, their counts, and whether somebody has them.
pub(super) async fn rows(db: &TestDb<Database>) -> Vec<(i64, i64, bool)> {
    let in_work = in_work::<Database>();
    let rows: Vec<(i64, i64, i64)> =
        db.rows(format!("SELECT id, attempt, {in_work} FROM jobs ORDER BY id")).await;
    rows.into_iter().map(|(id, attempt, in_work)| (id, attempt, in_work == 1)).collect()
}

async fn a_handler_within_the_drain_timeout_ends(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let script = Script::new(move |_| {
        let gate = Arc::clone(&held);
        async move {
            gate.acquire().await.unwrap().forget();
            Outcome::ack()
        }
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted);
    });
    let running = service.drain_timeout(Duration::from_secs(20)).start().await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;
    let shutdown = tokio::spawn(running.shutdown());
    gate.add_permits(1);
    shutdown.await.unwrap().unwrap();
    assert_eq!(rows(&db).await, []);
}

async fn a_handler_past_the_drain_timeout_is_aborted_and_its_row_given_back(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |_| std::future::pending().await);
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted);
    });
    let running = service.drain_timeout(Duration::from_millis(100)).start().await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(rows(&db).await, [(1, 1, false)], "with the count that it had");
}

async fn a_dropped_service_gives_its_rows_back(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |_| std::future::pending().await);
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted);
    });
    let running = service.start().await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;
    drop(running);
    eventually("the row is given back", async || rows(&db).await == [(1, 1, false)]).await;
}

async fn a_table_that_is_dropped_ends_the_subscription_and_the_service(db: TestDb<Database>) {
    create_tables(&db).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script).with_broker(broker(&db), |b| {
        b.mount(scripted);
        b.mount(scripted_kept);
    });
    let mut running = service.start().await.unwrap();
    db.execute("DROP TABLE jobs").await;
    let error = running.stopped().await.unwrap_err();
    let Error::Subscription { source: SqlxBrokerError::Ended { subscription, .. }, .. } = error
    else {
        panic!("{error}")
    };
    assert_eq!(subscription, "scripted");
}

async fn a_shared_pool_works_and_stays_open(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 50).await;
    let script = Script::always(Outcome::ack());
    let shared = SqlxBroker::<Database, _>::new(db.pool().clone());
    let service = Service::new("test").state(script).with_broker(shared, |b| {
        b.mount(scripted);
    });
    let running = service.start().await.unwrap();
    eventually("no row is left", async || rows(&db).await.is_empty()).await;
    running.shutdown().await.unwrap();
    Job::message(&Task { n: 1 }).group("work").insert(db.pool()).await.unwrap();
}
