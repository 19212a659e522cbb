//! The rows of a subscription without a handler, as a stream.

use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use tokio_util::sync::ReusableBoxFuture;

use super::Delivery;
use super::in_hand::InHand;
use crate::backend::Backend;
use crate::broker::Registration;
use crate::claim::{Key, Leases};
use crate::error::SqlxBrokerError;
use crate::handler::{TableOn, Taken};

/// The rows of a subscription without a handler: what
/// [`subscribe`](crate::ConnectedSqlxBroker::subscribe) returns.
///
/// It ends when the broker is shut down; or with [`SqlxBrokerError::Ended`] as its last item, if a
/// statement fails for good. While the database cannot be reached it waits.
///
/// Dropped, it ends in the background: nothing is claimed any more, and rows that were claimed and
/// not handed out are given back with the counts that they had. Deliveries that you still have stay
/// yours, and their leases are renewed until they are settled or dropped, or the broker is shut down.
#[must_use = "rows that nobody takes from the stream stay leased"]
pub struct DeliveryStream<DB: Backend, T: TableOn<DB>> {
    leases: Arc<Leases<DB, T>>,
    // Held for its `Drop`: the group is free again.
    _registration: Registration,
    /// Fires when there may be rows, or there will be none.
    changed: ReusableBoxFuture<'static, ()>,
    ended: bool,
    // The lists are kept from row to row.
    keys: Vec<Key>,
    rows: Vec<Taken<DB::Row>>,
}

impl<DB: Backend, T: TableOn<DB>> fmt::Debug for DeliveryStream<DB, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryStream")
            .field("subscription", &self.leases.subscription.name)
            .field("table", &T::TABLE.name())
            .finish_non_exhaustive()
    }
}

impl<DB: Backend, T: TableOn<DB>> DeliveryStream<DB, T> {
    pub(crate) fn new(leases: Arc<Leases<DB, T>>, registration: Registration) -> Self {
        let changed = ReusableBoxFuture::new(changed(Arc::clone(&leases)));
        Self {
            leases,
            _registration: registration,
            changed,
            ended: false,
            keys: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Waits for the next row; `None` when the stream has ended.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Ended`] if a statement of the subscription fails for good: the table was
    /// dropped or altered, or a permission taken. Nothing comes after it.
    ///
    /// # Cancel safety
    /// No row is lost: one that is claimed meanwhile is what the next call returns, or goes back
    /// with its count when the stream is dropped.
    pub async fn next(&mut self) -> Option<Result<Delivery<DB, T>, SqlxBrokerError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    fn take(&mut self) -> Option<Delivery<DB, T>> {
        let Self { leases, keys, rows, .. } = self;
        if !leases.take_rows(keys, rows) {
            return None;
        }
        let (key, taken) = keys.pop().zip(rows.pop())?;
        let id = leases.ledger.lock().id(key).clone();
        Some(Delivery::new(id, taken, InHand::new(Arc::clone(leases), key)))
    }
}

impl<DB: Backend, T: TableOn<DB>> Stream for DeliveryStream<DB, T> {
    type Item = Result<Delivery<DB, T>, SqlxBrokerError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        while !this.ended {
            let subscription = &this.leases.subscription;
            if subscription.draining.is_cancelled() {
                this.ended = true;
                if let Some(panic) = subscription.panic.lock().take() {
                    // A bug of ours, which must not look like an orderly end.
                    resume_unwind(panic);
                }
                let ended = subscription.ended.lock().take();
                return Poll::Ready(ended.map(Err));
            }
            if let Some(delivery) = this.take() {
                return Poll::Ready(Some(Ok(delivery)));
            }
            ready!(this.changed.poll(cx));
            this.changed.set(changed(Arc::clone(&this.leases)));
        }
        Poll::Ready(None)
    }
}

impl<DB: Backend, T: TableOn<DB>> Drop for DeliveryStream<DB, T> {
    fn drop(&mut self) {
        self.leases.subscription.draining.cancel();
    }
}

/// Waits until there may be rows, or the subscription drains.
async fn changed<DB: Backend, T: TableOn<DB>>(leases: Arc<Leases<DB, T>>) {
    tokio::select! {
        () = leases.subscription.draining.cancelled() => {}
        () = leases.signals.work.notified() => {}
    }
}
