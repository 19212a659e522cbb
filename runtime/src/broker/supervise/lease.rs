//! The tasks of a lease subscription.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::{Stop, abandon, drain, until_drain, watched};
use crate::backend::Backend;
use crate::claim::{Leases, claim_rows, keep_leases};
use crate::delivery::work_on_leases;
use crate::handler::{Declared, Subscribed, TableOn};
use crate::settle::settle_outcomes;

type Row<S> = <S as Declared>::Row;

/// Runs a lease subscription until it is to stop, or ends by itself, and drains it.
pub(super) async fn supervise<DB: Backend, S: Subscribed<DB>>(
    leases: &Arc<Leases<DB, Row<S>>>,
    stop: &Stop,
) {
    let Leases { subscription, ledger, signals, .. } = &**leases;
    let shared = || Arc::clone(leases);
    let keeper = keep_leases(shared(), subscription.over.clone());
    let keeper = tokio::spawn(task(shared(), keeper));
    let settler = tokio::spawn(task(shared(), settle_outcomes(shared())));
    let claimer = tokio::spawn(task(shared(), claim_rows(shared())));
    let mut workers = JoinSet::new();
    for _ in 0..subscription.settings.workers {
        workers.spawn(task(shared(), work_on_leases::<DB, S>(shared())));
    }
    until_drain(subscription, stop).await;
    let give_back = || {
        ledger.lock().give_back();
        signals.outcomes.notify_one();
    };
    // A claim that is on its way is waited for: its rows are ours, and are given back.
    let claimed = async {
        let _ = claimer.await;
        give_back();
    };
    let drained = async {
        drain(&mut workers, stop, || ledger.lock().cancel_all()).await;
        workers.abort_all();
        abandon(&mut workers).await;
    };
    tokio::join!(claimed, drained);
    give_back();
    settled(leases).await;
    subscription.over.cancel();
    let _ = keeper.await;
    let _ = settler.await;
}

pub(super) async fn task<DB: Backend, T: TableOn<DB>>(
    leases: Arc<Leases<DB, T>>,
    task: impl Future<Output = ()> + Send,
) {
    watched(&leases.subscription, task).await;
}

/// Waits until every outcome is written, or its lease has ended anyway.
async fn settled<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>) {
    let end = Instant::now() + leases.subscription.settings.lease;
    loop {
        let changed = leases.signals.settled.notified();
        let (unsettled, running) = {
            let ledger = leases.ledger.lock();
            (ledger.len(), ledger.running())
        };
        if unsettled <= running || timeout_at(end, changed).await.is_err() {
            return;
        }
    }
}
