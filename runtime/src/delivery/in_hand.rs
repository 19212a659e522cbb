//! A claimed row in the hands of the user's own code.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;
use crate::claim::{Key, Leases, Subscription};
use crate::dialect::Event;
use crate::error::SqlxBrokerError;
use crate::handler::{Carries, Cx, KindOf, MessageOf, Outcome, RowOutcome, TableOn, Taken, TiedTo};
use crate::settle::{Settlement, Settling, Unwritten, Waiter};

/// A claimed row, yours until you settle it: what a
/// [`DeliveryStream`](crate::DeliveryStream) gives.
///
/// Its lease is renewed while you have it. Dropped unsettled it is returned at once, in the
/// background, and its delivery counts; the same happens to a settlement that is dropped before it
/// was polled.
#[must_use = "a delivery that is dropped returns its row"]
pub struct Delivery<DB: Backend, T: TableOn<DB>> {
    id: T::Id,
    taken: Taken<DB::Row>,
    reason: Option<String>,
    held: InHand<DB, T>,
}

impl<DB: Backend, T: TableOn<DB>> fmt::Debug for Delivery<DB, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("table", &T::TABLE.name())
            .field("id", &self.id)
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}

impl<DB: Backend, T: TableOn<DB>> Delivery<DB, T> {
    pub(super) const fn new(id: T::Id, taken: Taken<DB::Row>, held: InHand<DB, T>) -> Self {
        Self { id, taken, reason: None, held }
    }

    /// The row's id.
    pub const fn id(&self) -> &T::Id {
        &self.id
    }

    /// The number of this delivery, from 1; always 1 where the table does not count.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        u32::try_from(self.taken.attempt.max(0)).unwrap_or(u32::MAX)
    }

    /// The group of the subscription, where the table has groups.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.held.leases.subscription.settings.group.as_deref()
    }

    /// The message.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Undecodable`] if the payload is no `M`. The delivery is still yours:
    /// nobody puts its row off for you.
    pub fn message<M>(&self) -> Result<M, SqlxBrokerError>
    where
        T: Carries<M>,
        M: MessageOf<KindOf<T>, TiedTo<T>>,
    {
        Cx::<DB, T>::decode(&self.taken.row).map_err(|reason| self.undecodable(reason))
    }

    /// The row, with the number of this delivery as its count.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Undecodable`] if a column cannot be read. The delivery is still yours.
    pub fn row(&self) -> Result<T, SqlxBrokerError> {
        Cx::<DB, T>::read(&self.taken.row).map_err(|reason| self.undecodable(reason))
    }

    /// Fires when the row is lost: somebody else has it, or will have it because its lease has ended
    /// after a shutdown. Settling it is of no effect then.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.held.cancellation()
    }

    /// Says why, as [`Outcome::because`] does: for a retry that follows.
    pub fn because(mut self, reason: impl Display) -> Self {
        self.reason = Outcome::retry().because(reason).reason;
        self
    }

    /// Ends the row: it is deleted, or marked as processed. Ready when that is committed.
    ///
    /// # Errors
    /// [`SqlxBrokerError::LeaseLost`] if the delivery no longer owned its row, so that nothing was
    /// written; [`SqlxBrokerError::Refused`] with the database's reason; and
    /// [`SqlxBrokerError::Closed`] if the runtime of the broker has ended. A database that cannot
    /// be reached is no error: the outcome is written when it can, while the lease lasts.
    ///
    /// # Cancel safety
    /// Once polled, the outcome is written without this future, and only its answer is lost. Dropped
    /// before, the row is returned and its delivery counts.
    pub async fn ack(self) -> Result<(), SqlxBrokerError> {
        self.settle(Outcome::ack()).await
    }

    /// The row is of no use: it ends exactly as with [`ack`](Self::ack).
    ///
    /// # Errors
    /// As [`ack`](Self::ack).
    ///
    /// # Cancel safety
    /// As [`ack`](Self::ack).
    pub async fn discard(self) -> Result<(), SqlxBrokerError> {
        self.settle(Outcome::drop()).await
    }

    /// Returns the row at once, or moves it to the dead letters if its attempts are spent.
    ///
    /// # Errors
    /// As [`ack`](Self::ack).
    ///
    /// # Cancel safety
    /// As [`ack`](Self::ack).
    pub async fn retry(self) -> Result<(), SqlxBrokerError> {
        self.settle(Outcome::retry()).await
    }

    /// Returns the row after `delay`, or moves it to the dead letters if its attempts are spent. On
    /// a table without a `retry_after` column it comes back at once, with a warning in the log.
    ///
    /// # Errors
    /// As [`ack`](Self::ack).
    ///
    /// # Cancel safety
    /// As [`ack`](Self::ack).
    pub async fn retry_after(self, delay: Duration) -> Result<(), SqlxBrokerError> {
        self.settle(Outcome::retry_after(delay)).await
    }

    async fn settle(self, outcome: Outcome) -> Result<(), SqlxBrokerError> {
        let Self { id, taken, reason, held } = self;
        let leases = Arc::clone(&held.leases);
        let answer = {
            let outcome = RowOutcome { outcome: Outcome { reason, ..outcome }, undecodable: false };
            let settling = Settling::of::<DB, T>(&leases.subscription, outcome, &taken);
            let (waiter, answer) = oneshot::channel();
            held.settle(settling.settlement, waiter);
            answer
        };
        // Not for as long as the database takes.
        drop(taken);
        let written = answer.await.unwrap_or(Err(Unwritten::Closed));
        written.map_err(|unwritten| unsettled::<DB, T>(&leases.subscription, &id, unwritten))
    }

    fn undecodable(&self, reason: String) -> SqlxBrokerError {
        SqlxBrokerError::Undecodable {
            subscription: self.held.leases.subscription.name.to_owned(),
            table: T::TABLE.to_string(),
            id: format!("{:?}", self.id),
            reason,
        }
    }
}

fn unsettled<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB>,
    id: &T::Id,
    unwritten: Unwritten,
) -> SqlxBrokerError {
    let (subscription, table, id) =
        (subscription.name.to_owned(), T::TABLE.to_string(), format!("{id:?}"));
    match unwritten {
        Unwritten::Lost => SqlxBrokerError::LeaseLost { subscription, table, id },
        Unwritten::Refused { statement, error: source } => {
            SqlxBrokerError::Refused { subscription, statement, table, id, source }
        }
        Unwritten::Closed => SqlxBrokerError::Closed,
    }
}

/// The lease of a delivery; dropped, it is released.
pub(super) struct InHand<DB: Backend, T: TableOn<DB>> {
    leases: Arc<Leases<DB, T>>,
    /// Taken when the delivery is settled.
    key: Option<Key>,
    since: Instant,
}

impl<DB: Backend, T: TableOn<DB>> InHand<DB, T> {
    pub(super) fn new(leases: Arc<Leases<DB, T>>, key: Key) -> Self {
        Self { leases, key: Some(key), since: Instant::now() }
    }

    fn cancellation(&self) -> CancellationToken {
        let key = self.key.as_slice();
        self.leases.ledger.lock().cancellation(key)
    }

    fn settle(mut self, settlement: Settlement, waiter: Waiter) {
        let Some(key) = self.key.take() else { return };
        let took = self.since.elapsed();
        self.leases.hand_in(|ledger| {
            ledger.finish_for(key, settlement, took, waiter);
            false
        });
    }
}

impl<DB: Backend, T: TableOn<DB>> Drop for InHand<DB, T> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        self.leases.hand_in(|ledger| {
            ledger.finish(key, Settlement::new(Event::Release), None);
            false
        });
    }
}
