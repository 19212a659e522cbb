//! What handlers take and return, and what a mount changes.

use std::sync::Arc;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use tokio::sync::Semaphore;

use super::queue::{Job, Script, Task, create_tables, scripted};
use super::{Database, broker, publish};

conformance![
    Database:
    on_error_decides_with_the_error_and_the_delivery,
    the_row_shows_the_number_of_this_delivery,
    a_mount_can_change_the_group,
    a_mount_can_change_the_workers,
    a_handler_is_told_that_the_drain_timeout_is_near,
    a_subscriber_is_a_plain_function_too,
    one_service_works_on_several_tables_and_groups,
];

#[derive(Debug)]
struct Broken(u32);

fn by_kind(error: &Broken, meta: &Meta) -> Outcome {
    match error.0 {
        1 => Outcome::drop(),
        _ => Outcome::retry_after(Duration::from_secs(3600)).because(format_args!(
            "{} of {} failed in delivery {}",
            meta.subscription(),
            meta.table(),
            meta.attempt()
        )),
    }
}

#[subscriber(super::queue::Job, group = "work", on_error = by_kind)]
async fn breaking(task: &Task) -> Result<(), Broken> {
    Err(Broken(u32::try_from(task.n).unwrap()))
}

async fn on_error_decides_with_the_error_and_the_delivery(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 2).await;
    let service = Service::new("test").with_broker(broker(&db), |b| {
        b.mount(breaking);
    });
    let running = service.start().await.unwrap();
    let settled = "SELECT count(*) FROM jobs WHERE last_error IS NOT NULL";
    eventually("one is dropped, and one put off", async || {
        db.value::<i64>("SELECT count(*) FROM jobs").await == 1
            && db.value::<i64>(settled).await == 1
    })
    .await;
    running.shutdown().await.unwrap();
    let reason: String = db.value("SELECT last_error FROM jobs WHERE id = 2").await;
    assert_eq!(reason, "breaking of jobs failed in delivery 1");
}

#[subscriber(super::queue::Job, group = "work")]
async fn shown(row: &Job, Ctx(attempt): Ctx<keys::Attempt>) -> Outcome {
    assert_eq!(i64::from(row.attempt), i64::from(attempt));
    // A panic of an earlier delivery would stand here.
    assert_eq!(row.last_error, None);
    if attempt == 3 { Outcome::ack() } else { Outcome::retry() }
}

async fn the_row_shows_the_number_of_this_delivery(db: TestDb<Database>) {
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

async fn a_mount_can_change_the_group(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    Job::message(&Task { n: 9 }).group("vip").id(9).insert(db.pool()).await.unwrap();
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.group("vip"));
    });
    let running = service.start().await.unwrap();
    eventually("the other group's row", async || script.seen() == [(9, 1)]).await;
    running.shutdown().await.unwrap();
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs WHERE kind = 'work'").await, 1);
}

async fn a_mount_can_change_the_workers(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 30).await;
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
        b.mount(scripted.workers(20));
    });
    let running = service.start().await.unwrap();
    eventually("twenty at once", async || script.seen().len() == 20).await;
    stays("and no more", Duration::from_millis(200), async || script.seen().len() == 20).await;
    gate.add_permits(30);
    eventually("all", async || script.seen().len() == 30).await;
    running.shutdown().await.unwrap();
}

async fn a_handler_is_told_that_the_drain_timeout_is_near(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let script = Script::new(async |seen| {
        seen.cancellation.cancelled().await;
        Outcome::retry_after(Duration::from_secs(3600)).because("told in time")
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted);
    });
    let running = service.drain_timeout(Duration::from_secs(2)).start().await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(db.value::<String>("SELECT last_error FROM jobs").await, "told in time");
}

async fn a_subscriber_is_a_plain_function_too(_db: TestDb<Database>) {
    let script = Script::always(Outcome::drop());
    let cancellation = CancellationToken::new();
    let outcome = scripted(&Task { n: 3 }, Ctx(7), State(script.clone()), cancellation).await;
    assert_eq!(outcome, Outcome::drop());
    assert_eq!(script.seen(), [(3, 7)]);
}

async fn one_service_works_on_several_tables_and_groups(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 5).await;
    Job::message(&Task { n: 50 }).group("vip").id(50).insert(db.pool()).await.unwrap();
    let bare = super::queue::BareJob::message(&Task { n: 60 }).id("x".to_owned());
    bare.insert(db.pool()).await.unwrap();
    let script = Script::always(Outcome::ack());
    let service = Service::new("test")
        .state(script.clone())
        .with_broker(broker(&db), |b| {
            b.mount(scripted);
            b.mount(scripted.group("vip"));
        })
        .with_broker(broker(&db), |b| {
            b.mount(super::queue::scripted_bare);
        });
    let running = service.start().await.unwrap();
    eventually("all rows", async || script.seen().len() == 7).await;
    running.shutdown().await.unwrap();
    let mut seen: Vec<_> = script.seen().into_iter().map(|(n, _)| n).collect();
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3, 4, 5, 50, 60]);
}
