//! A broker with connections, and what is left of it after.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::settings::Defaults;
use crate::backend::{Backend, Connections, HostClock, Keep};
use crate::error::SqlxBrokerError;
use crate::handler::TableOn;
use crate::publish::Publisher;

/// What a broker shares with its subscriptions and publishers.
pub(crate) struct Shared<DB: Backend> {
    pub(crate) connections: Connections<DB>,
    pub(crate) keep: Keep,
    pub(crate) defaults: Defaults,
    pub(crate) clock: HostClock,
    /// The name of the handler on each table and group.
    subscribed: Mutex<HashMap<(String, String), &'static str>>,
    /// Checked by publishers: a shared pool stays open, so nothing else would refuse them.
    closed: AtomicBool,
}

impl<DB: Backend> Shared<DB> {
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Notes a subscription, or tells who has the table's group already.
    pub(crate) fn subscribe(
        &self,
        table: &str,
        group: &str,
        subscription: &'static str,
    ) -> Result<(), SqlxBrokerError> {
        let mut subscribed = self.subscribed.lock();
        let entry = subscribed.entry((table.to_owned(), group.to_owned()));
        match entry {
            std::collections::hash_map::Entry::Occupied(other) => {
                Err(SqlxBrokerError::AlreadySubscribed {
                    subscription: subscription.to_owned(),
                    other: (*other.get()).to_owned(),
                    table: table.to_owned(),
                    group: group.to_owned(),
                })
            }
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(subscription);
                Ok(())
            }
        }
    }
}

/// A broker with connections to its database.
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
            subscribed: Mutex::default(),
            closed: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A publisher to one table. It wakes this process's subscriptions by itself.
    #[must_use]
    pub fn publisher<T: TableOn<DB>>(&self) -> Publisher<DB, T> {
        Publisher::new(Arc::clone(&self.shared))
    }

    /// Closes the broker: every publisher that it handed out is refused from now on, and the pool
    /// that it built is closed. A pool that the service built stays open.
    ///
    /// # Cancel safety
    /// The closed flag is set before the future waits for anything. Dropped later, the pool closes
    /// by itself; no row is lost or repeated.
    pub async fn shutdown(self) -> ClosedSqlxBroker {
        let Shared { connections, keep, closed, .. } = &*self.shared;
        closed.store(true, Ordering::Release);
        let connections_closed = match keep {
            Keep::Held => connections.pool().size(),
            Keep::Returned => 0,
        };
        let connections = connections.clone();
        // Half closed, the pool would hold its sessions as long as a publisher is there.
        let closing = tokio::spawn(async move { connections.close().await });
        let _ = closing.await;
        ClosedSqlxBroker { locks_released: 0, connections_closed: connections_closed as usize }
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
