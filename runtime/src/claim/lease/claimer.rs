//! Claims rows for one subscription: as many as there is room for, as soon as there may be some.

use std::sync::Arc;
use std::time::Instant;

use super::buffer::{Buffer, Claim};
use super::{Claimed, Leases, Ledger, startable};
use crate::backend::{Backend, Failure, Fault, Query, RowsOf, Urgency, Values, bind, bind_many};
use crate::claim::avoided::Avoided;
use crate::claim::course::{Course, Place};
use crate::claim::pace::{Backoff, jittered};
use crate::claim::read::{Read, missing, read};
use crate::claim::{Resolved, Subscription};
use crate::descriptor::Role;
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
    pub(super) leases: &'a Leases<DB, T>,
    /// Rows whose claims were refused.
    pub(super) avoided: Avoided<T::Id>,
    buffer: Buffer,
}

/// Claims until the subscription drains. Rows of a claim that was on its way then are in the
/// ledger when this returns.
pub(crate) async fn claim_rows<DB: Backend, T: TableOn<DB>>(leases: Arc<Leases<DB, T>>) {
    let single = leases.subscription.settings.cap.as_ref().is_some_and(|cap| cap.max_attempts == 1);
    let Resolved { workers, batch, lease, poll_interval, .. } = leases.subscription.settings;
    let mut claimer = Claimer {
        leases: &*leases,
        avoided: Avoided::default(),
        buffer: Buffer::new(workers, batch, lease, !single),
    };
    let mut course = Course::new(&leases.statements.claims, Instant::now());
    let mut backoff = Backoff::default();
    while let Some(room) = room(&leases, &claimer.buffer).await {
        match claimer.round(&mut course, room).await {
            Ok(Round::Crowded) => leases.subscription.pause(backoff.pause()).await,
            Ok(round) => {
                backoff.reset();
                if matches!(round, Round::Idle) {
                    leases.subscription.idle(jittered(poll_interval)).await;
                }
            }
            Err(failure) => {
                leases.subscription.failed(failure);
                course.forget();
                leases.subscription.pause(backoff.pause()).await;
            }
        }
    }
}

/// Waits until rows can be claimed and says how many; `None` when the subscription drains.
async fn room<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    buffer: &Buffer,
) -> Option<usize> {
    let Leases { subscription, signals, .. } = leases;
    loop {
        signals.expect_room();
        if subscription.draining.is_cancelled() {
            return None;
        }
        let (buffered, busy, unsettled) = {
            let ledger = leases.ledger.lock();
            // Held rows take no part: a table may have any number of rows that nobody can read.
            (ledger.buffered(), ledger.busy(), ledger.len() - ledger.held())
        };
        let Resolved { workers, batch, .. } = subscription.settings;
        let free = workers.saturating_sub(busy) * batch;
        let wanted = (free + buffer.size()).saturating_sub(buffered);
        let most = workers * batch + buffer.size() + MAX_UNSETTLED;
        let room = wanted.min(most.saturating_sub(unsettled));
        if room > 0 && buffered <= buffer.size() / 2 {
            return Some(room);
        }
        tokio::select! {
            () = subscription.draining.cancelled() => return None,
            () = signals.room.notified() => {}
        }
    }
}

impl<DB: Backend, T: TableOn<DB>> Claimer<'_, DB, T> {
    /// Claims what there is room for, from where it is to start now.
    async fn round(&mut self, course: &mut Course<T::Id>, room: usize) -> Result<Round, Failure> {
        let Subscription { wake, due, clock, .. } = &self.leases.subscription;
        let now = Instant::now();
        if let Some(id) = self.avoided.over(clock.at(now)) {
            return self.try_again(id).await;
        }
        let woken = wake.take() | due.lock().take_due(now);
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
        let statements = &self.leases.statements;
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
        Values { limit, after, ..self.leases.subscription.values::<T::Id>() }
    }

    /// Sends a claim, takes its rows into the ledger, and learns from it.
    pub(super) async fn take(&mut self, query: Query<DB>) -> Result<Brought<T::Id>, Failure> {
        let (brought, learned) = claim(self.leases, query).await?;
        let handler_time = self.leases.ledger.lock().handler_time();
        self.buffer.learn(learned, handler_time);
        self.leases.signals.buffer_is_low_at(self.buffer.size() / 2);
        Ok(brought)
    }
}

/// Sends one claim, and takes its rows into the ledger.
async fn claim<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    query: Query<DB>,
) -> Result<(Brought<T::Id>, Claim), Failure> {
    // From before the statement is sent: the lease never ends later than this host believes.
    let ends = Instant::now() + leases.subscription.settings.lease;
    let rows = leases.subscription.connections.rows(Urgency::Claim, query).await?;
    let count = rows.len();
    let sample = rows.iter().take(16);
    let bytes = sample.len().max(1);
    let bytes = sample.map(DB::size).sum::<usize>() * count / bytes;
    let mut claimed = Vec::with_capacity(count);
    for row in rows {
        match read::<DB, T>(&row) {
            Ok(Read { id, token: Some(token), attempt, due }) => {
                claimed.push((Claimed { id, token, attempt, row }, due));
            }
            Ok(_) => {
                let error = missing::<T>(Role::LockedUntil);
                telemetry::row_unreadable(T::TABLE.name(), &error);
            }
            // Its lease runs out and it is claimed again; nothing can be written without its id.
            Err(error) => telemetry::row_unreadable(T::TABLE.name(), &error),
        }
    }
    if !leases.statements.claims_are_ordered {
        claimed.sort_by(|(a, a_due), (b, b_due)| (a_due, &a.id).cmp(&(b_due, &b.id)));
    }
    let only_first_deliveries = claimed.iter().all(|(row, _)| row.attempt == 1);
    if !only_first_deliveries {
        // One of them may have killed its process, and would take along all that wait beside it.
        let busy = leases.ledger.lock().busy();
        let Resolved { workers, batch, .. } = leases.subscription.settings;
        let free = workers.saturating_sub(busy).max(1);
        let attempts = claimed.iter().map(|(row, _)| row.attempt);
        let waiting = claimed.split_off(startable(attempts, free, batch));
        give_back(leases, waiting.into_iter().map(|(row, _)| row)).await;
    }
    let last = claimed.last();
    let last = last.map(|(row, due)| Place { retry_after: *due, id: row.id.clone() });
    let started = {
        let mut ledger = leases.ledger.lock();
        for (row, _) in claimed {
            admit(leases, &mut ledger, row, ends);
        }
        ledger.buffered().min(leases.subscription.settings.workers)
    };
    (0..started).for_each(|_| leases.signals.work.notify_one());
    Ok((Brought { rows: count, last }, Claim { rows: count, bytes, only_first_deliveries }))
}

/// Takes a row into the ledger: for a worker, or for the dead letters if it killed its process as
/// often as it may be delivered.
fn admit<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    ledger: &mut Ledger<T::Id, DB::Row>,
    row: Claimed<T::Id, DB::Row>,
    ends: Instant,
) {
    match &leases.subscription.settings.cap {
        Some(cap) if cap.is_exceeded(row.attempt) => {
            let reason = format!(
                "none of its {} deliveries came to an end: its process died, or lost the lease",
                cap.max_attempts
            );
            telemetry::dead_lettered(T::TABLE.name(), &row.id, row.attempt, Some(&reason));
            let settlement =
                Settlement { reason: Some(reason), ..Settlement::new(Event::DeadLetter) };
            ledger.claimed_for(row, ends, settlement);
            leases.signals.outcomes.notify_one();
        }
        _ => drop(ledger.claimed(row, ends)),
    }
}
