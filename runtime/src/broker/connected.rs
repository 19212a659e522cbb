//! A broker with connections, and what is left of it after.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::registration::Register;
use super::settings::Defaults;
use super::supervise::Stream;
use crate::backend::{Backend, Connections, HostClock, Keep};
use crate::handler::TableOn;
use crate::publish::Publisher;

/// What a broker shares with its subscriptions and publishers.
pub(crate) struct Shared<DB: Backend> {
    pub(crate) connections: Connections<DB>,
    pub(crate) keep: Keep,
    pub(crate) defaults: Defaults,
    pub(crate) clock: HostClock,
    pub(super) subscribed: Arc<Register>,
    /// Streams whose rows are in the user's hands.
    pub(super) streams: Mutex<Vec<Stream>>,
    /// The broker is shut down: nothing is claimed any more, and for the streams nothing renewed.
    pub(super) closing: CancellationToken,
    /// Checked by publishers: a shared pool stays open, so nothing else would refuse them.
    closed: AtomicBool,
}

impl<DB: Backend> Shared<DB> {
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

/// A broker with connections to its database.
///
/// Dropped without a [`shutdown`](Self::shutdown) it closes nothing: publishers, streams and
/// deliveries that it handed out go on, and the connections of a pool that it built are closed when
/// the last of them is gone.
pub struct ConnectedSqlxBroker<DB: Backend> {
    pub(crate) shared: Arc<Shared<DB>>,
}

impl<DB: Backend> fmt::Debug for ConnectedSqlxBroker<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedSqlxBroker")
            .field("defaults", &self.shared.defaults)
            .finish_non_exhaustive()
    }
}

impl<DB: Backend> ConnectedSqlxBroker<DB> {
    pub(super) fn new(
        connections: Connections<DB>,
        keep: Keep,
        defaults: Defaults,
        clock: HostClock,
    ) -> Self {
        let shared = Shared {
            connections,
            keep,
            defaults,
            clock,
            subscribed: Arc::default(),
            streams: Mutex::default(),
            closing: CancellationToken::new(),
            closed: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A publisher to one table. It wakes this process's subscriptions by itself.
    #[must_use]
    pub fn publisher<T: TableOn<DB>>(&self) -> Publisher<DB, T> {
        Publisher::new(Arc::clone(&self.shared))
    }

    /// Closes the broker: every publisher that it handed out is refused from now on, every
    /// [`DeliveryStream`](crate::DeliveryStream) ends, and the pool that the broker built is closed.
    /// A pool that the service built stays open.
    ///
    /// It waits for claims that are on their way, and gives back what they bring and what no stream
    /// had handed out, with the counts that it had. It does not wait for deliveries that you still
    /// have: until the last of them is settled, dropped or past its lease, which is not renewed any
    /// more, the tasks that write their outcomes live on, with one connection.
    ///
    /// # Cancel safety
    /// The broker closes to its end without this future once it was polled; no row is lost or
    /// repeated. Dropped before, it drops the broker, which closes nothing: see
    /// [`ConnectedSqlxBroker`].
    pub async fn shutdown(self) -> ClosedSqlxBroker {
        let Self { shared } = self;
        shared.closed.store(true, Ordering::Release);
        shared.closing.cancel();
        // Half closed, the pool would hold its sessions as long as a publisher is there.
        let closing = tokio::spawn(async move { shared.close().await });
        closing.await.unwrap_or(ClosedSqlxBroker { locks_released: 0, connections_closed: 0 })
    }
}

impl<DB: Backend> Shared<DB> {
    /// Waits for the streams, and closes what no delivery needs any more.
    async fn close(&self) -> ClosedSqlxBroker {
        let Self { connections, keep, streams, .. } = self;
        let opened = connections.pool().size();
        let mut in_hand = Vec::new();
        let streams = std::mem::take(&mut *streams.lock());
        for stream in streams {
            in_hand.extend(stream.quiet().await);
        }
        let left = if in_hand.is_empty() {
            connections.close().await;
            0
        } else {
            connections.keep_one().await;
            let left = connections.pool().size();
            let connections = connections.clone();
            tokio::spawn(async move {
                for stream in in_hand {
                    let _ = stream.await;
                }
                connections.close().await;
            });
            left
        };
        let connections_closed = match keep {
            Keep::Held => opened.saturating_sub(left) as usize,
            Keep::Returned => 0,
        };
        ClosedSqlxBroker { locks_released: 0, connections_closed }
    }
}

/// What became of a broker's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClosedSqlxBroker {
    /// Locks whose connection went back to the pool; always 0 for lease tables.
    pub locks_released: usize,
    /// Connections that were closed.
    pub connections_closed: usize,
}
