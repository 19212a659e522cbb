//! Claims rows for one subscription: as many as there is room for, as soon as there may be some.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::buffer::{Buffer, Claim};
use super::course::{Course, Place};
use super::pace::{Backoff, jittered};
use super::subscription::Resolved;
use super::{Claimed, Ledger, Subscription};
use crate::backend::{Backend, Failure, IdOn, Urgency, Values, bind};
use crate::descriptor::{Column, Form, Role};
use crate::dialect::{ClaimFrom, Event, Statement};
use crate::handler::TableOn;
use crate::settle::{Settlement, give_back};
use crate::telemetry;

/// How many rows can wait for their settlement before no more are claimed.
const MAX_UNSETTLED: usize = 2000;

/// What a claim brought.
struct Brought<Id> {
    rows: usize,
    learned: Claim,
    last: Option<Place<Id>>,
}

/// Claims until the subscription drains. Rows of a claim that was on its way then are in the
/// ledger when this returns.
pub(crate) async fn claim_rows<DB: Backend, T: TableOn<DB>>(
    subscription: Arc<Subscription<DB, T>>,
) {
    let Subscription { signals, statements, .. } = &*subscription;
    let single = subscription.settings.cap.as_ref().is_some_and(|cap| cap.max_attempts == 1);
    let Resolved { workers, lease, poll_interval, .. } = subscription.settings;
    let mut buffer = Buffer::new(workers, lease, !single);
    let mut course = Course::new(statements, Instant::now());
    let mut backoff = Backoff::default();
    while let Some(room) = room(&subscription, &buffer).await {
        let now = Instant::now();
        let woken = signals.wake.take() | subscription.due.lock().take_due(now);
        let from = course.next(now, woken);
        // Due retries get a tenth of what there is room for.
        let limit = if from == ClaimFrom::Retries { room.div_ceil(10) } else { room };
        match claim(&subscription, statements.claim(from), limit, course.watermark()).await {
            Ok(brought) => {
                backoff.reset();
                buffer.learn(brought.learned, subscription.ledger.lock().handler_time());
                signals.buffer_is_low_at(buffer.size() / 2);
                if course.learn(from, brought.rows == limit, brought.last) {
                    idle(&subscription, jittered(poll_interval)).await;
                }
            }
            Err(failure) => {
                subscription.failed(failure);
                course.forget();
                pause(&subscription, backoff.pause()).await;
            }
        }
    }
}

/// Waits until rows can be claimed and says how many; `None` when the subscription drains.
async fn room<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    buffer: &Buffer,
) -> Option<usize> {
    let signals = &subscription.signals;
    loop {
        signals.expect_room();
        if signals.draining.is_cancelled() {
            return None;
        }
        let (buffered, running, unsettled) = {
            let ledger = subscription.ledger.lock();
            // Held rows take no part: a table may have any number of rows that nobody can read.
            (ledger.buffered(), ledger.running(), ledger.len() - ledger.held())
        };
        let free = subscription.settings.workers.saturating_sub(running);
        let wanted = (free + buffer.size()).saturating_sub(buffered);
        let most = subscription.settings.workers + buffer.size() + MAX_UNSETTLED;
        let room = wanted.min(most.saturating_sub(unsettled));
        if room > 0 && buffered <= buffer.size() / 2 {
            return Some(room);
        }
        tokio::select! {
            () = signals.draining.cancelled() => return None,
            () = signals.room.notified() => {}
        }
    }
}

/// Sends one claim, and takes its rows into the ledger.
async fn claim<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    statement: &Statement,
    limit: usize,
    after: Option<&Place<T::Id>>,
) -> Result<Brought<T::Id>, Failure> {
    let after = after.map(|place| (place.retry_after, &place.id));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = Values { limit, after, ..subscription.values() };
    let query = bind::<DB, T::Id>(statement, &values)?;
    // From before the statement is sent: the lease never ends later than this host believes.
    let ends = Instant::now() + subscription.settings.lease;
    let rows = subscription.connections.rows(Urgency::Claim, query).await?;
    let count = rows.len();
    let sample = rows.iter().take(16);
    let bytes = sample.len().max(1);
    let bytes = sample.map(DB::size).sum::<usize>() * count / bytes;
    let mut claimed = Vec::with_capacity(count);
    for row in rows {
        match read::<DB, T>(row) {
            Ok(row) => claimed.push(row),
            // Its lease runs out and it is claimed again; nothing can be written without its id.
            Err(error) => telemetry::row_unreadable(T::TABLE.name(), &error),
        }
    }
    if !subscription.statements.claims_are_ordered {
        claimed.sort_by(|(a, a_due), (b, b_due)| (a_due, &a.id).cmp(&(b_due, &b.id)));
    }
    let only_first_deliveries = claimed.iter().all(|(row, _)| row.attempt == 1);
    if !only_first_deliveries {
        // One of them may have killed its process, and would take along all that wait beside it.
        let running = subscription.ledger.lock().running();
        let free = subscription.settings.workers.saturating_sub(running).max(1);
        let waiting = claimed.split_off(free.min(claimed.len()));
        give_back(subscription, waiting.into_iter().map(|(row, _)| row)).await;
    }
    let last = claimed.last();
    let last = last.map(|(row, due)| Place { retry_after: *due, id: row.id.clone() });
    let started = {
        let mut ledger = subscription.ledger.lock();
        for (row, _) in claimed {
            admit(subscription, &mut ledger, row, ends);
        }
        ledger.buffered().min(subscription.settings.workers)
    };
    (0..started).for_each(|_| subscription.signals.work.notify_one());
    Ok(Brought { rows: count, learned: Claim { rows: count, bytes, only_first_deliveries }, last })
}

/// Takes a row into the ledger: for a worker, or for the dead letters if it killed its process as
/// often as it may be delivered.
fn admit<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    ledger: &mut Ledger<T::Id, DB::Row>,
    row: Claimed<T::Id, DB::Row>,
    ends: Instant,
) {
    match &subscription.settings.cap {
        Some(cap) if cap.is_exceeded(row.attempt) => {
            let reason = format!(
                "none of its {} deliveries came to an end: its process died, or lost the lease",
                cap.max_attempts
            );
            telemetry::dead_lettered(T::TABLE.name(), &row.id, row.attempt, Some(&reason));
            let settlement =
                Settlement { reason: Some(reason), ..Settlement::new(Event::DeadLetter) };
            ledger.claimed_for(row, ends, settlement);
            subscription.signals.outcomes.notify_one();
        }
        _ => drop(ledger.claimed(row, ends)),
    }
}

type Read<DB, T> =
    (Claimed<<T as crate::handler::QueueTable>::Id, <DB as sqlx::Database>::Row>, Option<i64>);

/// Reads what the queue must know of a claimed row, and its place in the claim's order.
fn read<DB: Backend, T: TableOn<DB>>(row: DB::Row) -> sqlx::Result<Read<DB, T>> {
    let (mut id, mut token, mut attempt, mut due) = (None, None, 1, None);
    for (at, column) in T::TABLE.columns().iter().enumerate() {
        match (column.role(), column.form()) {
            (Role::Id, _) => id = Some(T::Id::read(&row, at)?),
            (Role::LockedUntil, Form::Time { form, .. }) => token = DB::time(&row, at, form)?,
            // Only the order depends on it; a time that cannot be read must not cost the row.
            (Role::RetryAfter, Form::Time { form, .. }) => {
                due = DB::time(&row, at, form).ok().flatten();
            }
            (Role::Attempt, Form::Count(count)) => attempt = DB::count(&row, at, count)?,
            _ => {}
        }
    }
    let missing = |role| {
        let name = T::TABLE.column(role).map_or("", Column::name);
        sqlx::Error::ColumnNotFound(name.to_owned())
    };
    let id = id.ok_or_else(|| missing(Role::Id))?;
    let token = token.ok_or_else(|| missing(Role::LockedUntil))?;
    Ok((Claimed { id, token, attempt, row }, due))
}

/// Waits for the poll interval, a wake, or the next due time, whichever comes first.
async fn idle<DB: Backend, T: TableOn<DB>>(subscription: &Subscription<DB, T>, poll: Duration) {
    let signals = &subscription.signals;
    let poll = Instant::now() + poll;
    loop {
        let due = subscription.due.lock().next();
        let until = due.map_or(poll, |due| due.min(poll));
        tokio::select! {
            () = signals.draining.cancelled() => return,
            () = signals.wake.woken() => return,
            () = signals.due.notified() => {}
            () = tokio::time::sleep_until(until.into()) => return,
        }
    }
}

async fn pause<DB: Backend, T: TableOn<DB>>(subscription: &Subscription<DB, T>, pause: Duration) {
    tokio::select! {
        () = subscription.signals.draining.cancelled() => {}
        () = tokio::time::sleep(pause) => {}
    }
}
