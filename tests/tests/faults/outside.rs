//! What is dropped where no runtime is, as by a `main` that waits for its service and then ends. It
//! is compiled once for each kind of database.

use std::thread;
use std::time::Duration;

use queue_table::ConnectedSqlxBroker;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use sqlx::pool::PoolOptions;
use tokio::runtime::{Builder, Runtime};

use super::Database;
use crate::gate::left;

conformance![
    Database:
    a_broker_is_dropped_beside_its_runtime,
    a_broker_is_dropped_after_its_runtime,
    a_service_is_dropped_beside_its_runtime,
    a_service_is_dropped_after_its_runtime,
];

/// Does something on a thread that knows no runtime, with one that it has to enter itself.
async fn outside(test: impl FnOnce(Runtime) + Send + 'static) {
    let thread = thread::spawn(|| {
        test(Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    });
    eventually("it comes to its end", async || thread.is_finished()).await;
    assert!(thread.join().is_ok(), "it panicked");
}

/// A pool that looks after its connections even when they are gone.
fn broker(url: &str) -> SqlxBroker<Database> {
    let options = PoolOptions::new().min_connections(1).max_connections(3);
    SqlxBroker::from_url(url).pool_options(options)
}

/// A broker that keeps a connection for the next statement.
async fn used(url: &str) -> ConnectedSqlxBroker<Database> {
    let connected = broker(url).connect().await.unwrap();
    let publisher = connected.publisher::<Job>();
    publisher.publish(Job::message(&Task { n: 1 }).group("work")).await.unwrap();
    connected
}

async fn a_broker_is_dropped_beside_its_runtime(db: TestDb<Database>) {
    create_tables(&db).await;
    let url = db.url().to_owned();
    outside(move |runtime| {
        let connected = runtime.block_on(used(&url));
        drop(connected);
        drop(runtime);
    })
    .await;
    assert_eq!(left(&db).await, 1);
}

async fn a_broker_is_dropped_after_its_runtime(db: TestDb<Database>) {
    create_tables(&db).await;
    let url = db.url().to_owned();
    outside(move |runtime| {
        let connected = runtime.block_on(used(&url));
        drop(runtime);
        drop(connected);
    })
    .await;
    assert_eq!(left(&db).await, 1);
}

/// A service that has a row in its hands.
async fn busy(url: &str) -> RunningService {
    let script = Script::new(async |_| std::future::pending().await);
    let connected = used(url).await;
    let service = Service::new("outside").state(script.clone()).with_broker(connected, |b| {
        b.mount(scripted.lease(Duration::from_secs(60)));
    });
    let running = service.start().await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;
    running
}

async fn a_service_is_dropped_beside_its_runtime(db: TestDb<Database>) {
    create_tables(&db).await;
    let url = db.url().to_owned();
    let (rows, look) = (db.clone(), tokio::runtime::Handle::current());
    outside(move |runtime| {
        let running = runtime.block_on(busy(&url));
        drop(running);
        // The runtime goes on, and the service on it.
        look.block_on(eventually("the row is given back", async || {
            rows.value::<i64>("SELECT attempt FROM jobs").await == 1
        }));
        drop(runtime);
    })
    .await;
    assert_eq!(left(&db).await, 1);
}

async fn a_service_is_dropped_after_its_runtime(db: TestDb<Database>) {
    create_tables(&db).await;
    let url = db.url().to_owned();
    outside(move |runtime| {
        let running = runtime.block_on(busy(&url));
        drop(runtime);
        drop(running);
    })
    .await;
    assert_eq!(db.value::<i64>("SELECT attempt FROM jobs").await, 2, "it waits for its lease");
}
