//! The promises on one kind of database: this folder is compiled once for each.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::database::TestDb;
use queue_table_tests::queue::{Job, Script, Task, scripted};

use super::Database;

mod attempts;
mod declarations;
mod decoding;
mod handlers;
mod leases;
mod outcomes;
mod publishing;
mod refused_claims;
mod services;
mod suppressed;
mod waking;

/// The trials of every module.
pub(crate) fn trials(
    stands: &queue_table_tests::stands::Stands,
) -> Vec<queue_table_tests::conformance::Trial> {
    let modules = [
        attempts::trials(stands),
        declarations::trials(stands),
        decoding::trials(stands),
        handlers::trials(stands),
        leases::trials(stands),
        outcomes::trials(stands),
        publishing::trials(stands),
        refused_claims::trials(stands),
        services::trials(stands),
        suppressed::trials(stands),
        waking::trials(stands),
    ];
    modules.into_iter().flatten().collect()
}

/// A broker on the test's database.
fn broker(db: &TestDb<Database>) -> SqlxBroker<Database> {
    SqlxBroker::from_url(db.url())
}

/// Starts a service whose handler follows the script.
async fn start(db: &TestDb<Database>, script: &Script) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(scripted);
    });
    service.drain_timeout(Duration::from_secs(5)).start().await.unwrap()
}

/// Puts rows into group `work` of `jobs`, with the messages 1, 2, .. and the ids of the same.
async fn publish(db: &TestDb<Database>, rows: i64) {
    let tasks: Vec<_> = (1..=rows).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=rows).insert(db.pool()).await.unwrap();
}
