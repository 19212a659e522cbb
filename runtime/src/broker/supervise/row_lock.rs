//! The tasks of a row-lock subscription.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::{Stop, abandon, drain, until_drain, watched};
use crate::backend::Backend;
use crate::claim::RowLocks;
use crate::delivery::work_on_row_locks;
use crate::handler::{Declared, Subscribed, TableOn};

type Row<S> = <S as Declared>::Row;

/// Runs a row-lock subscription until it is to stop, or ends by itself, and drains it.
///
/// Its workers are told to abort their handlers, and never aborted themselves: each has a
/// transaction to end.
pub(super) async fn supervise<DB: Backend, S: Subscribed<DB>>(
    locks: &Arc<RowLocks<DB, Row<S>>>,
    stop: &Stop,
) {
    let mut workers = JoinSet::new();
    for _ in 0..locks.subscription.settings.workers {
        workers.spawn(task(Arc::clone(locks), work_on_row_locks::<DB, S>(Arc::clone(locks))));
    }
    until_drain(&locks.subscription, stop).await;
    drain(&mut workers, stop, || locks.near.cancel()).await;
    locks.abort.cancel();
    abandon(&mut workers).await;
    locks.subscription.over.cancel();
}

async fn task<DB: Backend, T: TableOn<DB>>(
    locks: Arc<RowLocks<DB, T>>,
    task: impl Future<Output = ()> + Send,
) {
    watched(&locks.subscription, task).await;
}
