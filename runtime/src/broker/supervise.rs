//! The tasks of a running subscription, and how they end.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Opened;
use crate::backend::Backend;
use crate::claim::{Subscription, claim_rows, keep_leases};
use crate::delivery::work;
use crate::error::SqlxBrokerError;
use crate::handler::{Subscribed, TableOn};
use crate::settle::settle_outcomes;

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
    pub(crate) fn start<DB: Backend, S: Subscribed<DB>>(opened: Opened<DB, S>, stop: Stop) -> Self {
        let abort = stop.abort.child_token();
        let guard = abort.clone().drop_guard();
        let task = tokio::spawn(supervise::<DB, S>(opened, Stop { abort, ..stop }));
        Self { task, guard }
    }

    /// Waits for the end of the subscription, and tells why it ended by itself, if it did.
    pub(crate) async fn ended(self) -> Option<SqlxBrokerError> {
        let ended = self.task.await.ok().flatten();
        drop(self.guard);
        ended
    }
}

/// Runs a subscription until it is to stop, or ends by itself, and drains it.
async fn supervise<DB: Backend, S: Subscribed<DB>>(
    subscription: Opened<DB, S>,
    stop: Stop,
) -> Option<SqlxBrokerError> {
    let keeper = tokio::spawn(keep_leases(Arc::clone(&subscription)));
    let settler = tokio::spawn(settle_outcomes(Arc::clone(&subscription)));
    let claimer = tokio::spawn(claim_rows(Arc::clone(&subscription)));
    let mut workers = JoinSet::new();
    for _ in 0..subscription.settings.workers {
        workers.spawn(work::<DB, S>(Arc::clone(&subscription)));
    }
    let signals = &subscription.signals;
    tokio::select! {
        () = stop.drain.cancelled() => signals.draining.cancel(),
        () = stop.abort.cancelled() => signals.draining.cancel(),
        () = signals.draining.cancelled() => {}
    }
    // A claim that is on its way is waited for: its rows are ours, and are given back.
    let _ = claimer.await;
    subscription.ledger.lock().give_back();
    signals.outcomes.notify_one();
    drain(&subscription, &mut workers, &stop).await;
    subscription.ledger.lock().give_back();
    signals.outcomes.notify_one();
    settled(&subscription).await;
    signals.over.cancel();
    let _ = keeper.await;
    let _ = settler.await;
    subscription.ended.lock().take()
}

/// Waits for the handlers, tells them when their time is nearly over, and aborts them when it is.
async fn drain<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    workers: &mut JoinSet<()>,
    stop: &Stop,
) {
    let Stop { abort, timeout, .. } = stop;
    let end = Instant::now() + *timeout;
    let near = end - (*timeout / 5).min(Duration::from_secs(5));
    let mut told = false;
    while !workers.is_empty() {
        tokio::select! {
            _ = workers.join_next() => {}
            () = tokio::time::sleep_until(near), if !told => {
                told = true;
                subscription.ledger.lock().cancel_all();
            }
            () = tokio::time::sleep_until(end) => break,
            () = abort.cancelled() => break,
        }
    }
    workers.abort_all();
    // A handler that blocks its thread cannot be aborted; its row waits for the end of its lease.
    let grace = Instant::now() + ABORT_GRACE;
    while let Ok(Some(_)) = timeout_at(grace, workers.join_next()).await {}
    workers.detach_all();
}

/// Waits until every outcome is written, or its lease has ended anyway.
async fn settled<DB: Backend, T: TableOn<DB>>(subscription: &Subscription<DB, T>) {
    let end = Instant::now() + subscription.settings.lease;
    loop {
        let changed = subscription.signals.settled.notified();
        let (unsettled, running) = {
            let ledger = subscription.ledger.lock();
            (ledger.len(), ledger.running())
        };
        if unsettled <= running || timeout_at(end, changed).await.is_err() {
            return;
        }
    }
}
