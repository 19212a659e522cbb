//! What a handler can ask of its delivery.

use std::time::{Duration, Instant};

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{BareJob, Task, create_tables};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Database, broker, publish};

conformance![
    Database:
    the_id_is_that_of_the_row,
    the_group_is_that_of_the_mount,
    the_deadline_is_the_end_of_the_timeout,
    without_a_timeout_there_is_no_deadline,
    the_pool_is_the_brokers_and_open_to_its_handlers,
];

type Sender<T> = State<UnboundedSender<T>>;

#[subscriber(queue_table_tests::queue::Job, group = "work")]
async fn identified(task: &Task, Ctx(id): Ctx<keys::Id<i64>>, State(told): Sender<(i64, i64)>) {
    told.send((task.n, id)).unwrap();
}

#[subscriber(BareJob)]
async fn named(Ctx(id): Ctx<keys::Id<String>>, State(told): Sender<String>) {
    told.send(id).unwrap();
}

async fn the_id_is_that_of_the_row(db: TestDb<Database>) {
    create_tables(&db).await;
    let ids = [40, 41];
    let tasks = ids.map(|n| Task { n });
    queue_table_tests::queue::Job::messages(&tasks)
        .group("work")
        .ids(ids)
        .insert(db.pool())
        .await
        .unwrap();
    BareJob::message(&Task { n: 1 }).id("one".to_owned()).insert(db.pool()).await.unwrap();
    let (told, mut ids) = unbounded_channel::<(i64, i64)>();
    let (called, mut names) = unbounded_channel::<String>();
    let service = Service::new("test").state(told).state(called).with_broker(broker(&db), |b| {
        b.mount(identified);
        b.mount(named);
    });
    let running = service.start().await.unwrap();
    let mut seen = [ids.recv().await.unwrap(), ids.recv().await.unwrap()];
    seen.sort_unstable();
    assert_eq!(seen, [(40, 40), (41, 41)]);
    assert_eq!(names.recv().await.unwrap(), "one");
    running.shutdown().await.unwrap();
}

#[subscriber(queue_table_tests::queue::Job, group = "work")]
async fn grouped(task: &Task, Ctx(group): Ctx<keys::Group>, State(told): Sender<(i64, String)>) {
    told.send((task.n, group)).unwrap();
}

async fn the_group_is_that_of_the_mount(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let vip = queue_table_tests::queue::Job::message(&Task { n: 2 }).group("vip").id(2);
    vip.insert(db.pool()).await.unwrap();
    let (told, mut groups) = unbounded_channel::<(i64, String)>();
    let service = Service::new("test").state(told).with_broker(broker(&db), |b| {
        b.mount(grouped);
        b.mount(grouped.group("vip"));
    });
    let running = service.start().await.unwrap();
    let mut seen = [groups.recv().await.unwrap(), groups.recv().await.unwrap()];
    seen.sort_unstable();
    assert_eq!(seen, [(1, "work".to_owned()), (2, "vip".to_owned())]);
    running.shutdown().await.unwrap();
}

/// How long the handler has from its start, and how long it was left alone.
#[subscriber(queue_table_tests::queue::Job, group = "work", timeout = "700ms")]
async fn hurried(Ctx(deadline): Ctx<keys::Deadline>, State(told): Sender<(Instant, Instant)>) {
    struct CutOff(Instant, UnboundedSender<(Instant, Instant)>);
    impl Drop for CutOff {
        fn drop(&mut self) {
            // Later deliveries of the row find nobody who listens.
            let _ = self.1.send((self.0, Instant::now()));
        }
    }
    let _cut_off = CutOff(deadline.unwrap(), told);
    std::future::pending::<()>().await;
}

async fn the_deadline_is_the_end_of_the_timeout(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let (told, mut cut_off) = unbounded_channel::<(Instant, Instant)>();
    let service = Service::new("test").state(told).with_broker(broker(&db), |b| {
        b.mount(hurried);
    });
    let before = Instant::now();
    let running = service.start().await.unwrap();
    let (deadline, ended) = cut_off.recv().await.unwrap();
    assert!(deadline >= before + Duration::from_millis(700));
    assert!(ended >= deadline, "cut off {:?} too early", deadline - ended);
    // The machine may be slow, but a deadline of another time unit would be seconds away.
    assert!(ended < deadline + Duration::from_secs(5), "cut off {:?} too late", ended - deadline);
    running.shutdown().await.unwrap();
}

#[subscriber(queue_table_tests::queue::Job, group = "work")]
async fn unhurried(Ctx(deadline): Ctx<keys::Deadline>, State(told): Sender<Option<Instant>>) {
    told.send(deadline).unwrap();
}

async fn without_a_timeout_there_is_no_deadline(db: TestDb<Database>) {
    create_tables(&db).await;
    publish(&db, 1).await;
    let (told, mut deadlines) = unbounded_channel::<Option<Instant>>();
    let service = Service::new("test").state(told).with_broker(broker(&db), |b| {
        b.mount(unhurried);
    });
    let running = service.start().await.unwrap();
    assert_eq!(deadlines.recv().await.unwrap(), None);
    running.shutdown().await.unwrap();
}

#[subscriber(queue_table_tests::queue::Job, group = "work", workers = 1)]
async fn noting(task: &Task, Ctx(pool): Ctx<keys::Pool<Database>>) -> sqlx::Result<()> {
    let note = format!("INSERT INTO noted (n) VALUES ({})", task.n);
    sqlx::query(sqlx::AssertSqlSafe(note)).execute(&pool).await.map(drop)
}

/// The pool has one connection, which the broker would keep for itself.
async fn the_pool_is_the_brokers_and_open_to_its_handlers(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute("CREATE TABLE noted (n bigint)").await;
    publish(&db, 20).await;
    let broker = broker(&db).connection_limit(1);
    let service = Service::new("test").with_broker(broker, |b| {
        b.mount(queue_table_tests::queue::scripted_kept);
        b.mount(noting);
    });
    let idle = queue_table_tests::queue::Script::always(Outcome::ack());
    let running = service.state(idle).start().await.unwrap();
    eventually("all are noted once", async || {
        db.value::<i64>("SELECT count(*) FROM jobs").await == 0
            && db.value::<i64>("SELECT count(*) FROM noted").await == 20
    })
    .await;
    running.shutdown().await.unwrap();
}
