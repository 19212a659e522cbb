//! What the answer to a settlement ends, and what is asked about those that it left out.

use std::time::{Duration, Instant};

use super::{Unwritten, look_up};
use crate::backend::{Backend, Urgency};
use crate::claim::{Batch, Leases, Verdict};
use crate::dialect::Event;
use crate::handler::TableOn;
use crate::telemetry;

/// Ends the deliveries whose rows were changed, and returns the others.
pub(super) fn conclude<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
    mut settled: Vec<T::Id>,
) -> Batch<T::Id> {
    settled.sort_unstable();
    let mut missing = batch.none();
    let buffered = {
        let mut ledger = leases.ledger.lock();
        for (n, &key) in batch.keys.iter().enumerate() {
            match settled.binary_search(&batch.rows.ids[n]) {
                Ok(_) => ledger.settled(key),
                Err(_) => missing.take(batch, n),
            }
        }
        ledger.buffered()
    };
    if let Some(event) = batch.event.filter(|_| missing.keys.len() < batch.keys.len()) {
        leases.subscription.follow_up(event, batch.rows.delays.iter().copied());
    }
    leases.signals.removed(buffered);
    missing
}

/// Decides about rows that a statement left out, or that it perhaps changed. What is still owned
/// is settled again: at once, and returned, if the statement is unknown; else alone and a little
/// later, because then somebody else has the row locked, or a trigger keeps it as it is.
pub(super) async fn judge<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
) -> Option<Batch<T::Id>> {
    let Some(found) = look_up(leases, batch, Urgency::Settle).await else {
        abandon(leases, batch, &Unwritten::Lost);
        return None;
    };
    let table = T::TABLE.name();
    let later = soon(leases);
    let mut again = batch.none();
    let mut ledger = leases.ledger.lock();
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
    leases.signals.removed(ledger.buffered());
    (!again.keys.is_empty()).then_some(again)
}

/// When a row is asked again that somebody else has locked.
pub(super) fn soon<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>) -> Instant {
    Instant::now() + (leases.subscription.settings.lease / 10).min(Duration::from_millis(500))
}

/// Nothing can be written any more: the rows wait for the end of their leases.
pub(super) fn abandon<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
    why: &Unwritten,
) {
    let mut ledger = leases.ledger.lock();
    batch.keys.iter().for_each(|&key| ledger.end(key, Err(why.clone())));
    leases.signals.removed(ledger.buffered());
}
