//! Rows that are locked: each call of a handler has a transaction of its own, which claims its rows,
//! settles them and is committed.

mod chain;
mod watch;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::avoided::Avoided;
use super::course::Course;
use super::{Backoff, Subscription};
use crate::backend::{self, Backend};
use crate::dialect::RowLockStatements;
use crate::handler::TableOn;

pub(crate) use chain::{Chain, End};

/// How long a row is left alone that nobody can work on, or whose outcome the database refuses.
pub(crate) const LEFT_ALONE: Duration = Duration::from_secs(60);

/// A subscription to a table whose rows are locked while they are in work.
#[derive(Debug)]
pub(crate) struct RowLocks<DB: Backend, T: TableOn<DB>> {
    pub(crate) subscription: Subscription<DB>,
    pub(crate) statements: RowLockStatements,
    pub(crate) texts: backend::Chain,
    /// Fires when the drain timeout is near; each delivery has a child of it.
    pub(crate) near: CancellationToken,
    /// Handlers are aborted: their transactions are rolled back.
    pub(crate) abort: CancellationToken,
    course: Mutex<Course<T::Id>>,
    avoided: Mutex<Avoided<T::Id>>,
    /// Whoever has it asks the database whether there are rows: one worker, however many are idle.
    watch: tokio::sync::Mutex<Backoff>,
    /// How many rows are next claimed one by one, because a batch with them was refused.
    singly: AtomicUsize,
}

impl<DB: Backend, T: TableOn<DB>> RowLocks<DB, T> {
    pub(crate) fn new(
        subscription: Subscription<DB>,
        statements: RowLockStatements,
        texts: backend::Chain,
    ) -> Self {
        let course = Course::new(&statements.claims, Instant::now());
        Self {
            subscription,
            statements,
            texts,
            near: CancellationToken::new(),
            abort: CancellationToken::new(),
            course: Mutex::new(course),
            avoided: Mutex::default(),
            watch: tokio::sync::Mutex::default(),
            singly: AtomicUsize::new(0),
        }
    }

    /// Leaves a row out of this process's claims for a while. `true`: another one had to make room
    /// for it, and is claimed again.
    fn leave_out(&self, id: T::Id, pause: Duration) -> bool {
        let Subscription { clock, .. } = &self.subscription;
        let until = Instant::now() + pause.min(backend::LONGEST);
        self.subscription.look_at(until);
        self.avoided.lock().leave_out(id, clock.at(until))
    }

    /// The rows that are left out now.
    fn left_out(&self) -> Vec<T::Id> {
        let now = self.subscription.clock.at(Instant::now());
        let mut avoided = self.avoided.lock();
        while let Some(id) = avoided.over(now) {
            avoided.forget(&id);
        }
        avoided.ids()
    }

    /// Claims so many of the next rows one by one: one of them spoilt a batch.
    pub(crate) fn claim_singly(&self, rows: usize) {
        self.singly.fetch_max(rows, Ordering::Relaxed);
    }

    /// Whether the next claim is one of those for a row alone.
    fn takes_one(&self) -> bool {
        let one = |left: usize| left.checked_sub(1);
        self.singly.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok()
    }
}
