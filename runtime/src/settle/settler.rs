//! Writes outcomes: while one statement is on its way the next ones gather, without a timer.

use std::sync::Arc;
use std::time::Instant;

use super::Unwritten;
use super::answer::{abandon, conclude, judge, soon};
use super::refused::{are_dead_letters, tell_refused};
use crate::backend::{Backend, Failure, Fault, IdOn, Transfer, Urgency, bind_many};
use crate::claim::{Backoff, Batch, Claimed, Leases};
use crate::dialect::{CopyThenDelete, Event, Plan};
use crate::handler::TableOn;

/// Settles until the subscription is over.
pub(crate) async fn settle_outcomes<DB: Backend, T: TableOn<DB>>(leases: Arc<Leases<DB, T>>) {
    let max = leases.statements.max_rows();
    // What is left then is past its lease, and each statement might wait as long as it may.
    while !leases.subscription.over.is_cancelled() {
        let (batch, due) = {
            let mut ledger = leases.ledger.lock();
            (ledger.next_settlement(Instant::now(), max), ledger.next_due())
        };
        if let Some(batch) = batch {
            settle(&leases, batch).await;
            continue;
        }
        let due = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = leases.subscription.over.cancelled() => return,
            () = leases.signals.outcomes.notified() => {}
            () = due => {}
        }
    }
}

/// Gives rows back that never were in the ledger, before anything else happens. If that fails they
/// wait for the end of their leases, with the attempt that their claim counted.
pub(crate) async fn give_back<DB: Backend, T: TableOn<DB>, Row>(
    leases: &Leases<DB, T>,
    rows: impl Iterator<Item = Claimed<T::Id, Row>>,
) {
    let max = leases.statements.max_rows();
    let mut batch = Batch::of(leases.form, Event::GiveBack, rows);
    while !batch.rows.ids.is_empty() {
        let rest = batch.rows.split_off(batch.rows.ids.len().min(max));
        if let Err(failure) = send(leases, &batch).await {
            leases.subscription.failed(failure);
        }
        batch.rows = rest;
    }
}

/// Settles a batch; a group that the database refuses is halved until the bad row stands alone.
async fn settle<DB: Backend, T: TableOn<DB>>(leases: &Leases<DB, T>, batch: Batch<T::Id>) {
    let mut backoff = Backoff::default();
    let mut groups = vec![batch];
    while let Some(mut group) = groups.pop() {
        match send(leases, &group).await {
            Ok(settled) => {
                let missing = conclude(leases, &group, settled);
                if !missing.keys.is_empty() {
                    judge(leases, &missing).await;
                }
            }
            Err(failure) if are_dead_letters(&leases.subscription, group.event, failure.fault) => {
                refuse(leases, &group, failure);
            }
            Err(failure) if failure.fault == Fault::Data => match group.keys.len() {
                1 if without_reason(leases, &mut group) => groups.push(group),
                1 => refuse(leases, &group, failure),
                n => {
                    let half = group.split_off(n / 2);
                    groups.extend([half, group]);
                }
            },
            // Something that the rows point to is locked by somebody: the row that waits for it is
            // found by halves too, and asked again alone.
            Err(failure) if failure.fault == Fault::Blocked && group.keys.len() > 1 => {
                let half = group.split_off(group.keys.len() / 2);
                groups.extend([half, group]);
            }
            Err(failure) => {
                let statement = failure.statement;
                let (fault, error) = leases.subscription.failed_with(failure);
                match fault {
                    // Whether it ran is not known: the rows are looked up, not guessed.
                    Fault::Connection => {
                        leases.ledger.lock().unanswered(&group.keys);
                        // A server that refuses every write, such as a standby, is not to be stormed.
                        if leases.subscription.pause_or_end(backoff.pause()).await {
                            return abandon(leases, &group, &Unwritten::Lost);
                        }
                        groups.extend(judge(leases, &group).await);
                    }
                    Fault::Blocked => {
                        let later = soon(leases);
                        let mut ledger = leases.ledger.lock();
                        group.keys.iter().for_each(|&key| ledger.ask_again(key, later));
                    }
                    Fault::Transient | Fault::Full => {
                        if leases.subscription.pause_or_end(backoff.pause()).await {
                            return abandon(leases, &group, &Unwritten::Lost);
                        }
                        groups.push(group);
                    }
                    Fault::Schema | Fault::Data => {
                        abandon(leases, &group, &Unwritten::Refused { statement, error });
                    }
                }
            }
        }
    }
}

/// Sends one statement and returns the ids of the rows that it changed.
async fn send<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
) -> Result<Vec<T::Id>, Failure> {
    let Leases { subscription, statements, .. } = leases;
    let (values, count) = (subscription.values::<T::Id>(), batch.rows.ids.len());
    match batch.event.and_then(|event| statements.settle(event)) {
        Some(Plan::One(many)) => {
            let query = bind_many(many, &values, count, &batch.rows)?;
            let name = query.name;
            let rows = subscription.connections.rows(Urgency::Settle, query).await?;
            let ids: sqlx::Result<Vec<_>> = rows.iter().map(|row| T::Id::read(row, 0)).collect();
            ids.map_err(|error| Failure::new::<DB>(name, error))
        }
        Some(Plan::CopyThenDelete(CopyThenDelete { transaction, copy, delete })) => {
            let copy = bind_many(copy, &values, count, &batch.rows)?;
            let delete = bind_many(delete, &values, count, &batch.rows)?;
            let transfer = Transfer { transaction: *transaction, copy, delete };
            subscription.connections.transfer(Urgency::Settle, transfer).await
        }
        None => unreachable!("a settlement is one of the events that the table has columns for"),
    }
}

/// The database refuses the outcome of one row: perhaps for the reason's text. `false`: it has none.
fn without_reason<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    group: &mut Batch<T::Id>,
) -> bool {
    group.rows.reasons[0] = None;
    leases.ledger.lock().without_reason(group.keys[0])
}

/// The database refuses outcomes for good: the rows keep their leases to their end.
fn refuse<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    group: &Batch<T::Id>,
    failure: Failure,
) {
    tell_refused(&leases.subscription, group.event, &group.rows.ids, &failure);
    let Failure { statement, error, .. } = failure;
    abandon(leases, group, &Unwritten::Refused { statement, error: Arc::new(error) });
}
