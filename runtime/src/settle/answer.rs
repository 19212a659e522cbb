//! What the answer to a settlement ends, and what is asked about those that it left out.

use std::time::{Duration, Instant};

use super::look_up;
use crate::backend::{Backend, Urgency};
use crate::claim::{Batch, Subscription, Verdict};
use crate::dialect::Event;
use crate::handler::TableOn;
use crate::telemetry;

/// Ends the deliveries whose rows were changed, and returns the others.
pub(super) fn conclude<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
    mut settled: Vec<T::Id>,
) -> Batch<T::Id> {
    settled.sort_unstable();
    let mut missing = batch.none();
    let buffered = {
        let mut ledger = subscription.ledger.lock();
        for (n, &key) in batch.keys.iter().enumerate() {
            match settled.binary_search(&batch.rows.ids[n]) {
                Ok(_) => ledger.remove(key),
                Err(_) => missing.take(batch, n),
            }
        }
        ledger.buffered()
    };
    if missing.keys.len() < batch.keys.len() {
        follow_up(subscription, batch);
    }
    subscription.signals.removed(buffered);
    missing
}

/// Tells this process of rows that can be claimed now, or later.
fn follow_up<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
) {
    let signals = &subscription.signals;
    match batch.event {
        Some(Event::Retry) => signals.wake.wake(),
        Some(Event::RetryAfter) => {
            let now = Instant::now();
            let mut due = subscription.due.lock();
            let delays = batch.rows.delays.iter().map(|delay| u64::try_from(*delay).unwrap_or(0));
            let sooner = delays.map(|delay| due.remember(now + Duration::from_micros(delay)));
            if sooner.fold(false, |any, sooner| any | sooner) {
                signals.due.notify_one();
            }
        }
        Some(Event::DeadLetter) => {
            if let Some(cap) = &subscription.settings.cap {
                subscription.wake_group(&cap.dead_letter);
            }
        }
        Some(Event::Ack | Event::GiveBack) | None => {}
    }
}

/// Decides about rows that a statement left out, or that it perhaps changed. What is still owned
/// is settled again: at once, and returned, if the statement is unknown; else alone and a little
/// later, because then somebody else has the row locked, or a trigger keeps it as it is.
pub(super) async fn judge<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
) -> Option<Batch<T::Id>> {
    let Some(found) = look_up(subscription, batch, Urgency::Settle).await else {
        abandon(subscription, batch);
        return None;
    };
    let table = T::TABLE.name();
    let later = soon(subscription);
    let mut again = batch.none();
    let mut ledger = subscription.ledger.lock();
    for (n, &key) in batch.keys.iter().enumerate() {
        match ledger.outcome_found(key, found[n], later) {
            Verdict::Done => {}
            Verdict::Again => again.take(batch, n),
            Verdict::Later => {
                if ledger.left_out(key) {
                    let statement = batch.event.map_or("settle", Event::name);
                    telemetry::without_effect(table, &batch.rows.ids[n], statement);
                }
            }
            Verdict::Lost => telemetry::lease_lost(table, &batch.rows.ids[n]),
        }
    }
    subscription.signals.removed(ledger.buffered());
    (!again.keys.is_empty()).then_some(again)
}

/// When a row is asked again that somebody else has locked.
pub(super) fn soon<DB: Backend, T: TableOn<DB>>(subscription: &Subscription<DB, T>) -> Instant {
    Instant::now() + (subscription.settings.lease / 10).min(Duration::from_millis(500))
}

/// Nothing can be written any more: the rows wait for the end of their leases.
pub(super) fn abandon<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
) {
    let mut ledger = subscription.ledger.lock();
    batch.keys.iter().for_each(|&key| ledger.remove(key));
    subscription.signals.removed(ledger.buffered());
}
