//! Writes outcomes: while one statement is on its way the next ones gather, without a timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Found, look};
use crate::backend::{Backend, Failure, Fault, IdOn, Urgency, bind_many};
use crate::claim::{Backoff, Batch, Claimed, Key, Subscription};
use crate::dialect::{Event, Many};
use crate::handler::TableOn;
use crate::telemetry;

/// Settles until the subscription is over.
pub(crate) async fn settle_outcomes<DB: Backend, T: TableOn<DB>>(
    subscription: Arc<Subscription<DB, T>>,
) {
    let max = subscription.statements.ack.max_rows();
    loop {
        let (batch, due) = {
            let mut ledger = subscription.ledger.lock();
            (ledger.next_settlement(Instant::now(), max), ledger.next_due())
        };
        if let Some(batch) = batch {
            settle(&subscription, batch).await;
            continue;
        }
        let due = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = subscription.signals.over.cancelled() => return,
            () = subscription.signals.outcomes.notified() => {}
            () = due => {}
        }
    }
}

/// Gives rows back that never were in the ledger, before anything else happens. If that fails they
/// wait for the end of their leases, with the attempt that their claim counted.
pub(crate) async fn give_back<DB: Backend, T: TableOn<DB>, Row>(
    subscription: &Subscription<DB, T>,
    rows: impl Iterator<Item = Claimed<T::Id, Row>>,
) {
    let many = &subscription.statements.give_back;
    let mut batch = Batch::of(subscription.form, Event::GiveBack, rows);
    while !batch.rows.ids.is_empty() {
        let rest = batch.rows.split_off(batch.rows.ids.len().min(many.max_rows()));
        if let Err(failure) = send(subscription, &batch).await {
            subscription.failed(failure);
        }
        batch.rows = rest;
    }
}

/// Settles a batch; a group that the database refuses is halved until the bad row stands alone.
async fn settle<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: Batch<T::Id>,
) {
    let mut backoff = Backoff::default();
    let mut groups = vec![batch];
    while let Some(mut group) = groups.pop() {
        match send(subscription, &group).await {
            Ok(settled) => {
                let missing = conclude(subscription, &group, settled);
                if !missing.keys.is_empty() {
                    judge(subscription, missing, false).await;
                }
            }
            Err(failure) if failure.fault == Fault::Data => match group.keys.len() {
                1 => refuse(subscription, group, &failure, &mut groups),
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
            Err(failure) => match subscription.failed(failure) {
                // Whether it ran is not known: the rows are looked up, not guessed.
                Fault::Connection => {
                    // A server that refuses every write, such as a standby, is not to be stormed.
                    if pause(subscription, backoff.pause()).await {
                        return abandon(subscription, &group);
                    }
                    groups.extend(judge(subscription, group, true).await);
                }
                Fault::Blocked => {
                    let later = soon(subscription);
                    let mut ledger = subscription.ledger.lock();
                    group.keys.iter().for_each(|&key| ledger.ask_again(key, later));
                }
                Fault::Transient => {
                    if pause(subscription, backoff.pause()).await {
                        return abandon(subscription, &group);
                    }
                    groups.push(group);
                }
                Fault::Schema | Fault::Data => abandon(subscription, &group),
            },
        }
    }
}

/// Sends one statement and returns the ids of the rows that it changed.
async fn send<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
) -> Result<Vec<T::Id>, Failure> {
    let query = bind_many(
        many(subscription, batch),
        &subscription.values(),
        batch.rows.ids.len(),
        &batch.rows,
    )?;
    let name = query.name;
    let rows = subscription.connections.rows(Urgency::Settle, query).await?;
    let ids: sqlx::Result<Vec<_>> = rows.iter().map(|row| T::Id::read(row, 0)).collect();
    ids.map_err(|error| Failure::new::<DB>(name, error))
}

fn many<'a, DB: Backend, T: TableOn<DB>>(
    subscription: &'a Subscription<DB, T>,
    batch: &Batch<T::Id>,
) -> &'a Many {
    match batch.event.and_then(|event| subscription.statements.settle(event)) {
        Some(many) => many,
        None => unreachable!("a settlement is one of the events that the table has columns for"),
    }
}

/// Ends the deliveries whose rows were changed, and returns the others.
fn conclude<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
    mut settled: Vec<T::Id>,
) -> Batch<T::Id> {
    settled.sort_unstable();
    let mut missing = Batch { event: batch.event, keys: Vec::new(), rows: batch.rows.empty() };
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
/// is settled again: at once if the statement is unknown, else alone and a little later, because
/// then somebody else has the row locked.
async fn judge<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: Batch<T::Id>,
    perhaps_settled: bool,
) -> Option<Batch<T::Id>> {
    let mut backoff = Backoff::default();
    let found = loop {
        match look(subscription, &batch, Urgency::Settle).await {
            Ok(found) => break found,
            Err(failure) => {
                if subscription.failed(failure) == Fault::Schema
                    || pause(subscription, backoff.pause()).await
                {
                    abandon(subscription, &batch);
                    return None;
                }
            }
        }
    };
    let later = soon(subscription);
    let mut again = Batch { event: batch.event, keys: Vec::new(), rows: batch.rows.empty() };
    let mut ledger = subscription.ledger.lock();
    for (n, &key) in batch.keys.iter().enumerate() {
        match found[n] {
            Found::Owned if perhaps_settled => again.take(&batch, n),
            Found::Owned => ledger.ask_again(key, later),
            // Nobody else can have ended it before our lease did.
            Found::Gone { in_force: true } if perhaps_settled => ledger.remove(key),
            Found::Gone { .. } | Found::Other { .. } => {
                telemetry::lease_lost(T::TABLE.name(), ledger.id(key));
                ledger.remove(key);
            }
        }
    }
    subscription.signals.removed(ledger.buffered());
    (!again.keys.is_empty()).then_some(again)
}

/// The database refuses the outcome of one row: first without the reason's text, then for good. The
/// row keeps its lease to its end.
fn refuse<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    mut group: Batch<T::Id>,
    failure: &Failure,
    groups: &mut Vec<Batch<T::Id>>,
) {
    let key = group.keys[0];
    let mut ledger = subscription.ledger.lock();
    if ledger.without_reason(key) {
        group.rows.reasons[0] = None;
        groups.push(group);
        return;
    }
    telemetry::settlement_refused(
        T::TABLE.name(),
        ledger.id(key),
        failure.statement,
        &failure.error,
    );
    ledger.remove(key);
    subscription.signals.removed(ledger.buffered());
}

/// Nothing can be written any more: the rows wait for the end of their leases.
fn abandon<DB: Backend, T: TableOn<DB>>(subscription: &Subscription<DB, T>, batch: &Batch<T::Id>) {
    let mut ledger = subscription.ledger.lock();
    batch.keys.iter().for_each(|&key: &Key| ledger.remove(key));
    subscription.signals.removed(ledger.buffered());
}

/// When a row is asked again that somebody else has locked.
fn soon<DB: Backend, T: TableOn<DB>>(subscription: &Subscription<DB, T>) -> Instant {
    Instant::now() + (subscription.settings.lease / 10).min(Duration::from_millis(500))
}

/// `true`: the subscription is over.
async fn pause<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    pause: Duration,
) -> bool {
    tokio::select! {
        () = subscription.signals.over.cancelled() => true,
        () = tokio::time::sleep(pause) => false,
    }
}
