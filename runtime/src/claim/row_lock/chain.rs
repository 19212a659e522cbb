//! Transactions of one worker, one after the other on one connection.

use std::time::{Duration, Instant};

use super::{LEFT_ALONE, RowLocks};
use crate::backend::{Backend, Failure, Query, RowsOf, Session, Urgency, Values, bind, bind_many};
use crate::claim::course::Place;
use crate::claim::read::{Read, read};
use crate::dialect::{ClaimFrom, MAX_LEFT_OUT};
use crate::handler::{TableOn, Taken, id};
use crate::telemetry;

/// How long transactions follow each other before the plans of their statements are made anew, and
/// before others get the connection who wait for one.
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
    /// A transaction is open.
    is_open: bool,
    /// More rows would have to be left out than can be.
    is_crowded: bool,
    begun: Instant,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Commit,
    /// Nothing was written.
    Rollback,
}

/// What became of claimed rows.
struct Took<Id> {
    /// Where the last one stands that was taken.
    last: Option<Place<Id>>,
    /// How many have no id that can be read.
    nameless: usize,
}

impl<'a, DB: Backend, T: TableOn<DB>> Chain<'a, DB, T> {
    pub(super) async fn begin(locks: &'a RowLocks<DB, T>) -> Result<Self, Failure> {
        let session = locks.subscription.connections.session(Urgency::Claim).await?;
        let mut chain = Self {
            locks,
            session,
            rows: Vec::new(),
            ids: Vec::new(),
            is_open: false,
            is_crowded: false,
            begun: Instant::now(),
        };
        chain.open("begin", locks.texts.begin).await?;
        Ok(chain)
    }

    async fn open(&mut self, name: &'static str, text: &'static str) -> Result<(), Failure> {
        self.is_open = false;
        self.session.run(name, text).await?;
        self.is_open = true;
        Ok(())
    }

    /// Claims rows; `false` if there are none.
    pub(crate) async fn claim(&mut self) -> Result<bool, Failure> {
        let RowLocks { subscription, course, .. } = self.locks;
        // How many of the first rows have no id that could be left out.
        let mut nameless = 0;
        loop {
            let now = Instant::now();
            let woken = subscription.wake.take() | subscription.due.lock().take_due(now);
            let single = self.locks.takes_one();
            let (from, after) = {
                let mut course = course.lock();
                if single {
                    // What was undone stands at the beginning.
                    course.forget();
                }
                let from = course.next(now, woken);
                (from, course.watermark().cloned())
            };
            let limit = if single { 1 } else { self.limit(from) }.max(2 * nameless);
            let query = self.query(from, after.as_ref(), limit)?;
            let claimed = self.session.rows(query).await?;
            let full = claimed.len() == limit;
            let taken = self.take(claimed);
            nameless = taken.nameless;
            let nothing = course.lock().learn(from, full, taken.last);
            if !self.rows.is_empty() {
                return Ok(true);
            }
            if nothing || self.is_crowded || nameless > MAX_LEFT_OUT {
                return Ok(false);
            }
        }
    }

    fn limit(&self, from: ClaimFrom) -> usize {
        let batch = self.locks.subscription.settings.batch;
        // Due retries get a tenth of what there is room for.
        if from == ClaimFrom::Retries { batch.div_ceil(10) } else { batch }
    }

    fn query(
        &self,
        from: ClaimFrom,
        after: Option<&Place<T::Id>>,
        limit: usize,
    ) -> Result<Query<DB>, Failure> {
        let RowLocks { subscription, statements, .. } = self.locks;
        let after = after.map(|place| (place.retry_after, &place.id));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = Values { limit, after, ..subscription.values::<T::Id>() };
        let left_out = self.locks.left_out();
        if left_out.is_empty() {
            bind::<DB, T::Id>(statements.claims.at(from), &values)
        } else {
            let (claim, rows) = (statements.claims_except.at(from), left_out.len());
            bind_many(claim, &values, rows, &RowsOf::of_ids(left_out))
        }
    }

    /// Takes claimed rows over, as many as a handler is called with. One that cannot be read is left
    /// to whoever repairs it, so that it does not stand before those behind it.
    fn take(&mut self, claimed: Vec<DB::Row>) -> Took<T::Id> {
        let mut took = Took { last: None, nameless: 0 };
        for row in claimed {
            if self.rows.len() == self.locks.subscription.settings.batch {
                break;
            }
            match read::<DB, T>(&row) {
                Ok(Read { id, attempt, due, .. }) => {
                    took.last = Some(Place { retry_after: due, id: id.clone() });
                    self.ids.push(id);
                    self.rows.push(Taken { attempt, row });
                }
                Err(error) => {
                    telemetry::row_unreadable(T::TABLE.name(), &error);
                    match id::<DB, T>(&row) {
                        Ok(id) => self.leave_out(id, LEFT_ALONE),
                        Err(_) => took.nameless += 1,
                    }
                }
            }
        }
        took
    }

    /// Leaves a row out of this process's claims for a while.
    pub(crate) fn leave_out(&mut self, id: T::Id, pause: Duration) {
        self.is_crowded |= self.locks.leave_out(id, pause);
    }

    /// Whether so many rows are left out that claims would come back to them at once.
    pub(crate) const fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// Ends the transaction, and begins that of the next rows if there is to be one; the rows are
    /// somebody else's then.
    pub(crate) async fn end(&mut self, end: End) -> Result<(), Failure> {
        let RowLocks { subscription, texts, .. } = self.locks;
        let has_lasted = self.begun.elapsed() > LONGEST_CHAIN;
        let is_last = self.is_crowded
            || subscription.draining.is_cancelled()
            || has_lasted && self.session.is_wanted();
        if !is_last && !has_lasted {
            match end {
                End::Commit => self.open("commit", texts.commit_and_begin).await?,
                End::Rollback => self.open("rollback", texts.rollback_and_begin).await?,
            }
        } else {
            match end {
                End::Commit => self.close("commit", texts.commit).await?,
                End::Rollback => self.close("rollback", texts.rollback).await?,
            }
            if !is_last {
                self.begun = Instant::now();
                self.open("begin", texts.begin).await?;
            }
        }
        self.rows.clear();
        self.ids.clear();
        Ok(())
    }

    async fn close(&mut self, name: &'static str, text: &'static str) -> Result<(), Failure> {
        // Whatever comes of it: a server has no transaction any more that it could not commit.
        self.is_open = false;
        self.session.run(name, text).await
    }

    /// Whether there is a transaction that can claim.
    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Undoes what is open, so that its rows are back as they were, and gives the connection back.
    pub(crate) async fn give_back(mut self) {
        let undone = match self.is_open {
            true => self.close("rollback", self.locks.texts.rollback).await,
            false => Ok(()),
        };
        match undone {
            Ok(()) => self.session.give_back().await,
            // Dropped, it is closed, and the server rolls back.
            Err(failure) => drop(self.locks.subscription.failed(failure)),
        }
    }
}
