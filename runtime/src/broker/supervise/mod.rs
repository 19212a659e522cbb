//! The tasks of a running subscription, and how they end.

mod lease;
mod row_lock;
mod stream;

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::open::{Opened, Rows};
use crate::backend::{Backend, LONGEST};
use crate::claim::Subscription;
use crate::error::SqlxBrokerError;
use crate::handler::Subscribed;

pub(crate) use stream::Stream;

/// How long an aborted handler has to reach its next `await`.
const ABORT_GRACE: Duration = Duration::from_secs(1);

/// When subscriptions stop, and how long their handlers may go on.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    /// No row is claimed or started any more.
    pub(crate) drain: CancellationToken,
    /// Handlers are aborted at once.
    pub(crate) abort: CancellationToken,
    /// Handlers are aborted after this time.
    pub(crate) timeout: Duration,
}

impl Stop {
    pub(crate) fn new(timeout: Duration) -> Self {
        let timeout = timeout.min(LONGEST);
        Self { drain: CancellationToken::new(), abort: CancellationToken::new(), timeout }
    }
}

/// A running subscription. Dropping it stops it at once, in the background.
#[derive(Debug)]
pub(crate) struct Running {
    task: JoinHandle<Option<SqlxBrokerError>>,
    guard: DropGuard,
}

impl Running {
    /// Starts the tasks of a subscription.
    pub(crate) fn start<DB: Backend, S: Subscribed<DB>>(
        opened: Opened<DB, S::Row>,
        stop: Stop,
    ) -> Self {
        let abort = stop.abort.child_token();
        let guard = abort.clone().drop_guard();
        let task = tokio::spawn(run::<DB, S>(opened, Stop { abort, ..stop }));
        Self { task, guard }
    }

    /// Waits for the end of the subscription, and tells why it ended by itself, if it did.
    pub(crate) async fn ended(self) -> Option<SqlxBrokerError> {
        let ended = self.task.await;
        drop(self.guard);
        match ended {
            Ok(ended) => ended,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(_) => None,
        }
    }
}

/// Runs a subscription until it is to stop, or ends by itself, and drains it.
async fn run<DB: Backend, S: Subscribed<DB>>(
    opened: Opened<DB, S::Row>,
    stop: Stop,
) -> Option<SqlxBrokerError> {
    // Its group is free for another subscription when it has ended.
    let Opened { rows, registration: _registration } = opened;
    let (panic, ended) = match rows {
        Rows::Leases(leases) => {
            lease::supervise::<DB, S>(&leases, &stop).await;
            (leases.subscription.panic.lock().take(), leases.subscription.ended.lock().take())
        }
        Rows::RowLocks(locks) => {
            row_lock::supervise::<DB, S>(&locks, &stop).await;
            (locks.subscription.panic.lock().take(), locks.subscription.ended.lock().take())
        }
    };
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    ended
}

/// Waits until the subscription is to drain.
async fn until_drain<DB: Backend>(subscription: &Subscription<DB>, stop: &Stop) {
    tokio::select! {
        () = stop.drain.cancelled() => subscription.draining.cancel(),
        () = stop.abort.cancelled() => subscription.draining.cancel(),
        () = subscription.draining.cancelled() => {}
    }
}

/// Drains the subscription if one of its own tasks panics, which is a bug: it must not go on with
/// less than all of them, and it must not be silent.
async fn watched<DB: Backend>(
    subscription: &Subscription<DB>,
    task: impl Future<Output = ()> + Send,
) {
    if let Err(panic) = AssertUnwindSafe(task).catch_unwind().await {
        subscription.panic.lock().get_or_insert(panic);
        subscription.draining.cancel();
    }
}

/// Waits for the handlers, and tells them when their time is nearly over. When it is, they are to
/// be aborted.
async fn drain(workers: &mut JoinSet<()>, stop: &Stop, near_end: impl Fn()) {
    let Stop { abort, timeout, .. } = stop;
    let end = Instant::now() + *timeout;
    let near = end - (*timeout / 5).min(Duration::from_secs(5));
    let mut told = false;
    while !workers.is_empty() {
        tokio::select! {
            _ = workers.join_next() => {}
            () = tokio::time::sleep_until(near), if !told => {
                told = true;
                near_end();
            }
            () = tokio::time::sleep_until(end) => break,
            () = abort.cancelled() => break,
        }
    }
}

/// Waits a moment for workers whose handlers were aborted. A handler that blocks its thread cannot
/// be aborted; its row is free when its lease, or its connection, ends.
async fn abandon(workers: &mut JoinSet<()>) {
    let grace = Instant::now() + ABORT_GRACE;
    while let Ok(Some(_)) = timeout_at(grace, workers.join_next()).await {}
    workers.detach_all();
}
