//! The tasks of a running subscription, and how they end.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Opened;
use crate::backend::{Backend, LONGEST};
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
    pub(crate) fn start<DB: Backend, S: Subscribed<DB>>(opened: Opened<DB, S>, stop: Stop) -> Self {
        let abort = stop.abort.child_token();
        let guard = abort.clone().drop_guard();
        let task = tokio::spawn(supervise::<DB, S>(opened, Stop { abort, ..stop }));
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
async fn supervise<DB: Backend, S: Subscribed<DB>>(
    subscription: Opened<DB, S>,
    stop: Stop,
) -> Option<SqlxBrokerError> {
    let signals = &subscription.signals;
    let shared = || Arc::clone(&subscription);
    let keeper = tokio::spawn(watched(shared(), keep_leases(shared())));
    let settler = tokio::spawn(watched(shared(), settle_outcomes(shared())));
    let claimer = tokio::spawn(watched(shared(), claim_rows(shared())));
    let mut workers = JoinSet::new();
    for _ in 0..subscription.settings.workers {
        workers.spawn(watched(shared(), work::<DB, S>(shared())));
    }
    tokio::select! {
        () = stop.drain.cancelled() => signals.draining.cancel(),
        () = stop.abort.cancelled() => signals.draining.cancel(),
        () = signals.draining.cancelled() => {}
    }
    // A claim that is on its way is waited for: its rows are ours, and are given back.
    let claimed = async {
        let _ = claimer.await;
        subscription.ledger.lock().give_back();
        signals.outcomes.notify_one();
    };
    tokio::join!(claimed, drain(&subscription, &mut workers, &stop));
    subscription.ledger.lock().give_back();
    signals.outcomes.notify_one();
    settled(&subscription).await;
    signals.over.cancel();
    let _ = keeper.await;
    let _ = settler.await;
    let panic = subscription.panic.lock().take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    subscription.ended.lock().take()
}

/// Drains the subscription if one of its own tasks panics, which is a bug: it must not go on with
/// less than all of them, and it must not be silent.
async fn watched<DB: Backend, T: TableOn<DB>>(
    subscription: Arc<Subscription<DB, T>>,
    task: impl Future<Output = ()> + Send,
) {
    if let Err(panic) = AssertUnwindSafe(task).catch_unwind().await {
        subscription.panic.lock().get_or_insert(panic);
        subscription.signals.draining.cancel();
    }
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
