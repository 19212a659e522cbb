//! Renews the leases of one subscription.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::{Batch, Leases, Renewal};
use crate::backend::{Backend, Failure, Fault, IdOn, Urgency, bind_many};
use crate::handler::TableOn;
use crate::settle::look_up;
use crate::telemetry;

/// Renews every lease once a half lease, until it is told to end.
///
/// A row that somebody else has locked for a moment is skipped and asked again after a tenth of the
/// lease; only a row that is seen with another token, or gone, is lost.
pub(crate) async fn keep_leases<DB: Backend, T: TableOn<DB>>(
    leases: Arc<Leases<DB, T>>,
    end: CancellationToken,
) {
    let lease = leases.subscription.settings.lease;
    let mut skipped = false;
    let mut next = Instant::now() + lease / 2;
    loop {
        let now = Instant::now();
        let again = now + lease / 10;
        let until = if skipped { again.min(next) } else { next };
        tokio::select! {
            () = end.cancelled() => return,
            () = tokio::time::sleep_until(until.into()) => {}
        }
        if until == next {
            next = Instant::now() + lease / 2;
        }
        skipped = renew_leases(&leases).await;
    }
}

/// Renews the leases that have less than three quarters to go. `true`: some were skipped.
async fn renew_leases<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>) -> bool {
    let soon = Instant::now() + leases.subscription.settings.lease * 3 / 4;
    let max = leases.statements.renew.max_rows();
    let mut batches = Vec::new();
    loop {
        let batch = leases.ledger.lock().next_renewal(max, |ends| ends < soon);
        if batch.keys.is_empty() {
            break;
        }
        batches.push(batch);
    }
    let mut skipped = false;
    for batch in batches {
        skipped |= renew(leases, batch).await;
    }
    skipped
}

/// Renews the leases of a batch; one that the database refuses to change is found by halves, so
/// that it does not cost the others theirs. `true`: some were skipped.
async fn renew<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>, batch: Batch<T::Id>) -> bool {
    let mut skipped = false;
    let mut groups = vec![batch];
    while let Some(mut group) = groups.pop() {
        let ends = Instant::now() + leases.subscription.settings.lease;
        match send(leases, &group).await {
            Ok(renewed) => {
                let missing = conclude(leases, &group, renewed, ends);
                skipped |= !missing.keys.is_empty() && answer(leases, &missing, None).await;
            }
            Err(failure) if failure.fault == Fault::Data && group.keys.len() > 1 => {
                let half = group.split_off(group.keys.len() / 2);
                groups.extend([half, group]);
            }
            Err(failure) => match leases.subscription.failed(failure) {
                // Whether it ran is not known: the leases are looked up, not guessed.
                Fault::Connection => {
                    skipped |= answer(leases, &group, Some(ends)).await;
                }
                Fault::Transient | Fault::Full | Fault::Blocked | Fault::Data | Fault::Schema => {
                    let mut ledger = leases.ledger.lock();
                    group.keys.iter().for_each(|&key| ledger.not_renewed(key));
                    leases.signals.outcomes.notify_one();
                    skipped = true;
                }
            },
        }
    }
    skipped
}

/// Takes over the new tokens, and returns the rows that got none.
fn conclude<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
    mut renewed: Vec<(T::Id, i64)>,
    ends: Instant,
) -> Batch<T::Id> {
    renewed.sort_unstable();
    let mut missing = batch.none();
    let mut ledger = leases.ledger.lock();
    for (n, &key) in batch.keys.iter().enumerate() {
        match renewed.binary_search_by(|(id, _)| id.cmp(&batch.rows.ids[n])) {
            Ok(at) => ledger.renewed(key, renewed[at].1, ends),
            Err(_) => missing.take(batch, n),
        }
    }
    leases.signals.outcomes.notify_one();
    missing
}

async fn send<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
) -> Result<Vec<(T::Id, i64)>, Failure> {
    let renew = &leases.statements.renew;
    let query =
        bind_many(renew, &leases.subscription.values::<T::Id>(), batch.keys.len(), &batch.rows)?;
    let rows = leases.subscription.connections.rows(Urgency::Renew, query).await?;
    let read = |row: &DB::Row| {
        let token = DB::time(row, 1, leases.form)?;
        sqlx::Result::Ok((T::Id::read(row, 0)?, token.unwrap_or_default()))
    };
    let rows: sqlx::Result<Vec<_>> = rows.iter().map(read).collect();
    rows.map_err(|error| Failure::new::<DB>("renew", error))
}

/// Looks up what became of leases that were not renewed, or perhaps were: then until the given
/// time. `true`: some are still owned, and asked again.
async fn answer<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
    perhaps: Option<Instant>,
) -> bool {
    // Without an answer nothing is sent about the rows any more: they wait for their leases' ends.
    let Some(found) = look_up(leases, batch, Urgency::Renew).await else { return false };
    let table = T::TABLE.name();
    let mut skipped = false;
    let mut ledger = leases.ledger.lock();
    for (n, &key) in batch.keys.iter().enumerate() {
        match ledger.lease_found(key, found[n], Instant::now(), perhaps) {
            Renewal::Moved { .. } => {}
            Renewal::Skipped => {
                skipped = true;
                if perhaps.is_none() && ledger.left_out(key) {
                    telemetry::without_effect(table, &batch.rows.ids[n], "renew");
                }
            }
            Renewal::Lost => telemetry::lease_lost(table, &batch.rows.ids[n]),
        }
    }
    leases.signals.removed(ledger.buffered());
    leases.signals.outcomes.notify_one();
    skipped
}
