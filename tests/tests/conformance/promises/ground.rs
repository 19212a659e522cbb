//! What the promises stand on: a broker, a service, and rows to work on.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::database::TestDb;

use super::Database;
use super::queue::{Job, Script, Task, scripted};

/// A broker on the test's database, with connections for as many workers as any trial has.
pub(crate) fn broker(db: &TestDb<Database>) -> SqlxBroker<Database> {
    SqlxBroker::from_url(db.url()).connection_limit(24)
}

/// Starts a service whose handler follows the script.
pub(crate) async fn start(db: &TestDb<Database>, script: &Script) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(scripted);
    });
    service.drain_timeout(Duration::from_secs(5)).start().await.unwrap()
}

/// Puts rows into group `work` of `jobs`, with the messages 1, 2, .. and the ids of the same.
pub(crate) async fn publish(db: &TestDb<Database>, rows: i64) {
    let tasks: Vec<_> = (1..=rows).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=rows).insert(db.pool()).await.unwrap();
}
