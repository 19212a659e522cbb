//! The service.

use std::time::Duration;

use queue_table::prelude::*;

use crate::Result;
use crate::database::Database;
use crate::handlers::{alert, store};
use crate::summary::Counts;

/// How long the rows of a killed process wait before another one may have them. A handler here is
/// quick, and while it works its lease is renewed.
const LEASE: Duration = Duration::from_secs(2);

/// How often to look whether rows came that nobody told this process of.
const POLL: Duration = Duration::from_millis(250);

/// How often to look whether the work is done.
const LOOK: Duration = Duration::from_millis(100);

fn service(database: &Database) -> Service {
    let service = Service::new("quickstart")
        .state(Database::clone(database))
        .drain_timeout(Duration::from_secs(10));
    match database {
        Database::Sqlite(pool) => {
            let broker = SqlxBroker::new(pool.clone()).lease(LEASE).poll_interval(POLL);
            service.with_broker(broker, |b| {
                b.mount(store);
                b.mount(alert);
            })
        }
        Database::Postgres(pool) => {
            let broker = SqlxBroker::new(pool.clone()).lease(LEASE).poll_interval(POLL);
            service.with_broker(broker, |b| {
                b.mount(store);
                b.mount(alert);
            })
        }
    }
}

/// Works until nothing is left, or until it is told to stop; then what is in work is finished.
pub(crate) async fn work(
    database: &Database,
    stop: &CancellationToken,
    mut seen: impl FnMut(&Counts),
) -> Result<()> {
    let mut running = service(database).start().await?;
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            // Only if something is wrong: somebody dropped the table, for example.
            ended = running.stopped() => return Ok(ended?),
            () = stop.cancelled() => break,
            _ = look.tick() => {
                let counts = Counts::of(database).await?;
                seen(&counts);
                if counts.left == 0 {
                    break;
                }
            }
        }
    }
    Ok(running.shutdown().await?)
}
