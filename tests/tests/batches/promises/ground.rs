//! What the promises stand on: a broker, a service, and rows to work on.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::batches::BatchScript;
use queue_table_tests::database::TestDb;
use queue_table_tests::queue::Task;

use super::Database;
use super::queue::{Job, batched};

/// A broker on the test's database, with connections for as many workers as any trial has.
pub(crate) fn broker(db: &TestDb<Database>) -> SqlxBroker<Database> {
    SqlxBroker::from_url(db.url()).connection_limit(24)
}

/// Starts a service with one worker, whose handler of batches of ten follows the script.
pub(crate) async fn start(db: &TestDb<Database>, script: &BatchScript) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(batched.workers(1));
    });
    service.drain_timeout(Duration::from_secs(5)).start().await.unwrap()
}

/// Puts rows into group `work` of `jobs`, with the messages 1, 2, .. and the ids of the same.
pub(crate) async fn publish(db: &TestDb<Database>, rows: i64) {
    let tasks: Vec<_> = (1..=rows).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=rows).insert(db.pool()).await.unwrap();
}

/// How many rows are in `jobs`.
pub(crate) async fn left(db: &TestDb<Database>) -> i64 {
    db.value("SELECT count(*) FROM jobs").await
}
