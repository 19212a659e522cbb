//! A connection that somebody has for longer than a statement.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connections::{Inner, Owned, close};
use super::deadline::limited;
use super::{Backend, Connections, Failure, Fault, Query, Urgency};

/// How many connections of a broker can be lent out at a time: all but one, which is left to
/// statements that have none. So deliveries never keep claims, publishes and renewals waiting.
pub(super) struct Lending {
    room: Arc<Semaphore>,
    most: usize,
    waiting: AtomicUsize,
}

impl Lending {
    pub(super) fn of(connections: u32) -> Self {
        // A pool of one has none to spare, and takes turns.
        let most = connections.saturating_sub(1).max(1) as usize;
        Self { room: Arc::new(Semaphore::new(most)), most, waiting: AtomicUsize::new(0) }
    }

    /// How many are lent out now.
    pub(super) fn lent(&self) -> usize {
        self.most - self.room.available_permits()
    }

    async fn borrow(&self) -> sqlx::Result<OwnedSemaphorePermit> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let permit = Arc::clone(&self.room).acquire_owned().await;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        permit.map_err(|_| sqlx::Error::PoolClosed)
    }
}

/// A connection that a delivery has for itself.
///
/// It goes back with [`give_back`](Self::give_back), outside of a transaction; dropped, it is
/// closed, because nobody knows what its server still does for it.
pub(crate) struct Session<DB: Backend> {
    inner: Arc<Inner<DB>>,
    /// Nothing once the connection is lost.
    owned: Option<Owned<DB>>,
    _lent: OwnedSemaphorePermit,
}

impl<DB: Backend> fmt::Debug for Session<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("is_lost", &self.is_lost()).finish_non_exhaustive()
    }
}

impl<DB: Backend> Connections<DB> {
    /// Takes a connection out, and its slot with it.
    pub(crate) async fn session(&self, urgency: Urgency) -> Result<Session<DB>, Failure> {
        let inner = Arc::clone(&self.inner);
        // In a task: a connection that is being opened is not to be dropped half-way.
        let taken = tokio::spawn(async move {
            let lent = inner.lending.borrow().await?;
            let owned = inner.take(urgency).await?;
            Ok(Session { inner, owned: Some(owned), _lent: lent })
        });
        let taken = taken.await.unwrap_or(Err(sqlx::Error::WorkerCrashed));
        // Nothing was sent: the same can be tried again.
        taken.map_err(|error| Failure { fault: Fault::Transient, statement: "connect", error })
    }
}

impl<DB: Backend> Session<DB> {
    /// The connection is closed: what it did for nobody is undone by its server.
    pub(crate) const fn is_lost(&self) -> bool {
        self.owned.is_none()
    }

    /// Somebody else waits for a connection like this.
    pub(crate) fn is_wanted(&self) -> bool {
        self.inner.lending.waiting.load(Ordering::Relaxed) > 0
    }

    /// Runs a statement to its end and returns its rows.
    ///
    /// The future must not be dropped: the statement would go on without anybody who waits for it.
    pub(crate) async fn rows(&mut self, query: Query<DB>) -> Result<Vec<DB::Row>, Failure> {
        let Query { name, sql, arguments } = query;
        let answer = match &mut self.owned {
            Some(owned) => limited::<DB, _>(DB::rows(&mut owned.connection, sql, arguments)).await,
            None => Err(sqlx::Error::PoolClosed),
        };
        self.learn(name, answer)
    }

    /// Runs a text without parameters to its end.
    pub(crate) async fn run(
        &mut self,
        name: &'static str,
        text: &'static str,
    ) -> Result<(), Failure> {
        let answer = match &mut self.owned {
            Some(owned) => limited::<DB, _>(DB::run_text(&mut owned.connection, text)).await,
            None => Err(sqlx::Error::PoolClosed),
        };
        self.learn(name, answer)
    }

    /// Runs a text without parameters; if it takes longer than `limit`, the connection is lost.
    pub(crate) async fn run_within(
        &mut self,
        limit: Duration,
        name: &'static str,
        text: &'static str,
    ) -> Result<(), Failure> {
        if let Ok(answer) = tokio::time::timeout(limit, self.run(name, text)).await {
            return answer;
        }
        self.learn(name, Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
    }

    /// Closes a connection that is lost at once: as long as its socket is open, its server may hold
    /// what it has locked.
    fn learn<V>(&mut self, name: &'static str, answer: sqlx::Result<V>) -> Result<V, Failure> {
        answer.map_err(|error| {
            let failure = Failure::new::<DB>(name, error);
            if failure.fault == Fault::Connection {
                self.close();
            }
            failure
        })
    }

    fn close(&mut self) {
        if let Some(owned) = self.owned.take() {
            close(owned.connection);
            self.inner.free();
        }
    }

    /// Gives the connection to whoever waits for one, or back.
    pub(crate) async fn give_back(mut self) {
        if let Some(owned) = self.owned.take() {
            self.inner.put(owned, None).await;
        }
    }
}

impl<DB: Backend> Drop for Session<DB> {
    fn drop(&mut self) {
        self.close();
    }
}
