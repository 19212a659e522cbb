//! Claims rows for one subscription: as many as there is room for, as soon as there may be some.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::avoided::Avoided;
use super::buffer::{Buffer, Claim};
use super::course::{Course, Place};
use super::pace::{Backoff, jittered};
use super::subscription::Resolved;
use super::{Claimed, Ledger, Subscription};
use crate::backend::{
    Backend, Failure, Fault, IdOn, Query, RowsOf, Urgency, Values, bind, bind_many,
};
use crate::descriptor::{Column, Form, Role};
use crate::dialect::{ClaimFrom, Event};
use crate::handler::TableOn;
use crate::settle::{Settlement, give_back};
use crate::telemetry;

/// How many rows can wait for their settlement before no more are claimed.
const MAX_UNSETTLED: usize = 2000;

/// What a claim brought.
pub(super) struct Brought<Id> {
    pub(super) rows: usize,
    last: Option<Place<Id>>,
}

/// What a round of the claim loop came to.
pub(super) enum Round {
    /// There may be more.
    More,
    /// There is nothing more to claim now.
    Idle,
    /// A row is left out, and another one had to make room for it.
    Crowded,
}

/// What the claim loop learns from claim to claim.
pub(super) struct Claimer<'a, DB: Backend, T: TableOn<DB>> {
    pub(super) subscription: &'a Subscription<DB, T>,
    /// Rows whose claims were refused.
    pub(super) avoided: Avoided<T::Id>,
    buffer: Buffer,
}

/// Claims until the subscription drains. Rows of a claim that was on its way then are in the
/// ledger when this returns.
pub(crate) async fn claim_rows<DB: Backend, T: TableOn<DB>>(
    subscription: Arc<Subscription<DB, T>>,
) {
    let single = subscription.settings.cap.as_ref().is_some_and(|cap| cap.max_attempts == 1);
    let Resolved { workers, lease, poll_interval, .. } = subscription.settings;
    let mut claimer = Claimer {
        subscription: &*subscription,
        avoided: Avoided::default(),
        buffer: Buffer::new(workers, lease, !single),
    };
    let mut course = Course::new(&subscription.statements, Instant::now());
    let mut backoff = Backoff::default();
    while let Some(room) = room(&subscription, &claimer.buffer).await {
        match claimer.round(&mut course, room).await {
            Ok(Round::Crowded) => pause(&subscription, backoff.pause()).await,
            Ok(round) => {
                backoff.reset();
                if matches!(round, Round::Idle) {
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

impl<DB: Backend, T: TableOn<DB>> Claimer<'_, DB, T> {
    /// Claims what there is room for, from where it is to start now.
    async fn round(&mut self, course: &mut Course<T::Id>, room: usize) -> Result<Round, Failure> {
        let Subscription { signals, due, clock, .. } = self.subscription;
        let now = Instant::now();
        if let Some(id) = self.avoided.over(clock.at(now)) {
            return self.try_again(id).await;
        }
        let woken = signals.wake.take() | due.lock().take_due(now);
        let from = course.next(now, woken);
        // Due retries get a tenth of what there is room for.
        let limit = if from == ClaimFrom::Retries { room.div_ceil(10) } else { room };
        match self.claim(from, course.watermark(), limit).await {
            Ok(brought) => match course.learn(from, brought.rows == limit, brought.last) {
                true => Ok(Round::Idle),
                false => Ok(Round::More),
            },
            Err(failure) if failure.fault == Fault::Data => {
                self.step_past(from, course.watermark(), limit, failure).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// Claims rows, and leaves out those whose claims were refused.
    pub(super) async fn claim(
        &mut self,
        from: ClaimFrom,
        after: Option<&Place<T::Id>>,
        limit: usize,
    ) -> Result<Brought<T::Id>, Failure> {
        let statements = &self.subscription.statements;
        let values = self.values(after, limit);
        let query = if self.avoided.is_empty() {
            bind::<DB, T::Id>(statements.claim(from), &values)?
        } else {
            let left_out = RowsOf::of_ids(self.avoided.ids());
            let claim = statements.claims_except.at(from);
            bind_many(claim, &values, self.avoided.len(), &left_out)?
        };
        self.take(query).await
    }

    /// The values of a statement that starts somewhere.
    pub(super) fn values<'v>(
        &'v self,
        after: Option<&'v Place<T::Id>>,
        limit: usize,
    ) -> Values<'v, T::Id> {
        let after = after.map(|place| (place.retry_after, &place.id));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Values { limit, after, ..self.subscription.values() }
    }

    /// Sends a claim, takes its rows into the ledger, and learns from it.
    pub(super) async fn take(&mut self, query: Query<DB>) -> Result<Brought<T::Id>, Failure> {
        let (brought, learned) = claim(self.subscription, query).await?;
        let handler_time = self.subscription.ledger.lock().handler_time();
        self.buffer.learn(learned, handler_time);
        self.subscription.signals.buffer_is_low_at(self.buffer.size() / 2);
        Ok(brought)
    }
}

/// Sends one claim, and takes its rows into the ledger.
async fn claim<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    query: Query<DB>,
) -> Result<(Brought<T::Id>, Claim), Failure> {
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
    Ok((Brought { rows: count, last }, Claim { rows: count, bytes, only_first_deliveries }))
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
