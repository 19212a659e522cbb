//! The tasks of a subscription whose rows are in the user's hands.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::lease::task;
use crate::backend::Backend;
use crate::claim::{Leases, claim_rows, keep_leases};
use crate::handler::TableOn;
use crate::settle::{Unwritten, settle_outcomes};

/// The tasks of a subscription whose rows are in the user's hands.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Nothing is claimed any more, and nothing waits in the buffer. Says whether deliveries are
    /// left in the user's hands.
    quiet: oneshot::Receiver<bool>,
    task: JoinHandle<()>,
}

impl Stream {
    /// Starts the tasks. They end when the subscription drains, or the broker closes, and no
    /// delivery is left.
    pub(crate) fn start<DB: Backend, T: TableOn<DB>>(
        leases: Arc<Leases<DB, T>>,
        closing: CancellationToken,
    ) -> Self {
        let (tell, quiet) = oneshot::channel();
        let task = tokio::spawn(supervise(leases, closing, tell));
        Self { quiet, task }
    }

    /// Whether its tasks have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits until nothing is claimed any more. Returns the rest, if deliveries are left.
    pub(crate) async fn quiet(self) -> Option<JoinHandle<()>> {
        match self.quiet.await {
            Ok(true) => Some(self.task),
            // Its last task is at its end.
            Ok(false) | Err(_) => {
                let _ = self.task.await;
                None
            }
        }
    }
}

async fn supervise<DB: Backend, T: TableOn<DB>>(
    leases: Arc<Leases<DB, T>>,
    closing: CancellationToken,
    quiet: oneshot::Sender<bool>,
) {
    let _closed = Closed(&leases);
    let Leases { subscription, ledger, signals, .. } = &*leases;
    let shared = || Arc::clone(&leases);
    // Ends with the broker: leases that are in hand then run out.
    let renewing = closing.child_token();
    let keeper = tokio::spawn(task(shared(), keep_leases(shared(), renewing.clone())));
    let settler = tokio::spawn(task(shared(), settle_outcomes(shared())));
    let claimer = tokio::spawn(task(shared(), claim_rows(shared())));
    subscription.draining.cancelled().await;
    // A claim that is on its way is waited for: its rows are ours, and are given back.
    let _ = claimer.await;
    ledger.lock().give_back();
    signals.outcomes.notify_one();
    given_back(&leases).await;
    let left = ledger.lock().last_end();
    let quiet = match left {
        Some(_) => {
            let _ = quiet.send(true);
            None
        }
        None => Some(quiet),
    };
    in_hand(&leases).await;
    subscription.over.cancel();
    renewing.cancel();
    let _ = keeper.await;
    let _ = settler.await;
    ledger.lock().close(&Unwritten::Lost);
    if let Some(quiet) = quiet {
        let _ = quiet.send(false);
    }
}

/// Waits until the rows that nobody started are back, or their leases have ended anyway.
async fn given_back<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>) {
    let end = Instant::now() + leases.subscription.settings.lease;
    loop {
        let changed = leases.signals.settled.notified();
        if !leases.ledger.lock().gives_back() || timeout_at(end, changed).await.is_err() {
            return;
        }
    }
}

/// Waits until the last delivery is settled, dropped or past its lease.
async fn in_hand<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>) {
    loop {
        let changed = leases.signals.settled.notified();
        let Some(end) = leases.ledger.lock().last_end().map(Instant::from) else { return };
        tokio::select! {
            () = changed => {}
            // A renewal may have moved it meanwhile.
            () = sleep_until(end) => {
                if leases.ledger.lock().last_end().is_none_or(|end| Instant::now() >= end.into()) {
                    return;
                }
            }
        }
    }
}

/// Tells whoever waits for an outcome when the tasks end with their runtime.
struct Closed<'a, DB: Backend, T: TableOn<DB>>(&'a Leases<DB, T>);

impl<DB: Backend, T: TableOn<DB>> Drop for Closed<'_, DB, T> {
    fn drop(&mut self) {
        self.0.subscription.draining.cancel();
        self.0.ledger.lock().close(&Unwritten::Closed);
    }
}
