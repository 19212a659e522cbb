//! Transactions of one worker, one after the other on one connection.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::RowLocks;
use crate::backend::{Backend, Failure, Query, RowsOf, Session, Urgency, Values, bind, bind_many};
use crate::claim::course::Place;
use crate::claim::read::{Read, read};
use crate::dialect::ClaimFrom;
use crate::handler::{TableOn, Taken};
use crate::telemetry;

/// How long transactions follow each other before the plans of their statements are made anew.
const LONGEST_CHAIN: Duration = Duration::from_secs(1);

/// Transactions of one worker, one after the other on one connection, and the rows of the one that
/// is open. Dropped, it closes the connection, and the server rolls back.
#[derive(Debug)]
pub(crate) struct Chain<'a, DB: Backend, T: TableOn<DB>> {
    pub(crate) locks: &'a RowLocks<DB, T>,
    pub(crate) session: Session<DB>,
    /// The rows that the open transaction has locked, and their ids.
    pub(crate) rows: Vec<Taken<DB::Row>>,
    pub(crate) ids: Vec<T::Id>,
    begun: Instant,
}

impl<'a, DB: Backend, T: TableOn<DB>> Chain<'a, DB, T> {
    pub(super) async fn begin(locks: &'a RowLocks<DB, T>) -> Result<Self, Failure> {
        let mut session = locks.subscription.connections.session(Urgency::Claim).await?;
        session.run("begin", locks.texts.begin).await?;
        let (rows, ids) = (Vec::new(), Vec::new());
        Ok(Self { locks, session, rows, ids, begun: Instant::now() })
    }

    /// Claims rows; `false` if there are none.
    pub(crate) async fn claim(&mut self) -> Result<bool, Failure> {
        let RowLocks { subscription, course, .. } = self.locks;
        loop {
            let now = Instant::now();
            let woken = subscription.wake.take() | subscription.due.lock().take_due(now);
            let (from, after) = {
                let mut course = course.lock();
                let from = course.next(now, woken);
                (from, course.watermark().cloned())
            };
            let limit = self.limit(from);
            let query = self.query(from, after.as_ref(), limit)?;
            let claimed = self.session.rows(query).await?;
            let full = claimed.len() == limit;
            let last = self.take(claimed);
            let nothing = course.lock().learn(from, full, last);
            if !self.rows.is_empty() {
                return Ok(true);
            }
            if nothing || full {
                // Full of rows that nobody can read: they are left to whoever repairs them.
                return Ok(false);
            }
        }
    }

    fn limit(&self, from: ClaimFrom) -> usize {
        let RowLocks { subscription, singly, .. } = self.locks;
        let one = |left: usize| left.checked_sub(1);
        if singly.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok() {
            return 1;
        }
        let batch = subscription.settings.batch;
        // Due retries get a tenth of what there is room for.
        if from == ClaimFrom::Retries { batch.div_ceil(10) } else { batch }
    }

    fn query(
        &self,
        from: ClaimFrom,
        after: Option<&Place<T::Id>>,
        limit: usize,
    ) -> Result<Query<DB>, Failure> {
        let RowLocks { subscription, statements, avoided, .. } = self.locks;
        let after = after.map(|place| (place.retry_after, &place.id));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = Values { limit, after, ..subscription.values::<T::Id>() };
        let mut avoided = avoided.lock();
        let now = subscription.clock.at(Instant::now());
        while let Some(id) = avoided.over(now) {
            avoided.forget(&id);
        }
        if avoided.is_empty() {
            bind::<DB, T::Id>(statements.claims.at(from), &values)
        } else {
            let left_out = RowsOf::of_ids(avoided.ids());
            bind_many(statements.claims_except.at(from), &values, avoided.len(), &left_out)
        }
    }

    /// Takes claimed rows over, and tells where the last one stands.
    fn take(&mut self, claimed: Vec<DB::Row>) -> Option<Place<T::Id>> {
        let mut last = None;
        for row in claimed {
            match read::<DB, T>(&row) {
                Ok(Read { id, attempt, due, .. }) => {
                    last = Some(Place { retry_after: due, id: id.clone() });
                    self.ids.push(id);
                    self.rows.push(Taken { attempt, row });
                }
                Err(error) => telemetry::row_unreadable(T::TABLE.name(), &error),
            }
        }
        last
    }

    /// Commits, and begins the transaction of the next rows. `false`: none is open, because the
    /// subscription drains.
    pub(crate) async fn commit(&mut self) -> Result<bool, Failure> {
        let RowLocks { subscription, texts, .. } = self.locks;
        self.rows.clear();
        self.ids.clear();
        if subscription.draining.is_cancelled() {
            self.session.run("commit", texts.commit).await?;
            return Ok(false);
        }
        if self.begun.elapsed() > LONGEST_CHAIN {
            self.session.run("commit", texts.commit).await?;
            self.begun = Instant::now();
            self.session.run("begin", texts.begin).await?;
        } else {
            self.session.run("commit", texts.commit_and_begin).await?;
        }
        Ok(true)
    }

    /// Undoes the open transaction: its rows are back as they were.
    pub(crate) async fn rollback(&mut self) -> Result<(), Failure> {
        self.session.run("rollback", self.locks.texts.rollback).await
    }

    /// Gives the connection back, outside of a transaction.
    pub(crate) async fn give_back(self) {
        self.session.give_back().await;
    }
}
