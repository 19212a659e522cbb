//! A connection that somebody has for longer than a statement.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::connections::{Inner, Owned, close, limited};
use super::{Backend, Connections, Failure, Fault, Query, Urgency};

/// A connection that a delivery has for itself.
///
/// It goes back with [`give_back`](Self::give_back), outside of a transaction; dropped, it is
/// closed, because nobody knows what its server still does for it.
pub(crate) struct Session<DB: Backend> {
    inner: Arc<Inner<DB>>,
    owned: Option<Owned<DB>>,
    /// It is lost, or in a state that nobody knows.
    broken: bool,
}

impl<DB: Backend> fmt::Debug for Session<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("broken", &self.broken).finish_non_exhaustive()
    }
}

impl<DB: Backend> Connections<DB> {
    /// Takes a connection out, and its slot with it.
    pub(crate) async fn session(&self, urgency: Urgency) -> Result<Session<DB>, Failure> {
        let inner = Arc::clone(&self.inner);
        // In a task: a connection that is being opened is not to be dropped half-way.
        let taken = tokio::spawn(async move {
            let owned = inner.take(urgency).await?;
            Ok(Session { inner, owned: Some(owned), broken: false })
        });
        let taken = taken.await.unwrap_or(Err(sqlx::Error::WorkerCrashed));
        // Nothing was sent: the same can be tried again.
        taken.map_err(|error| Failure { fault: Fault::Transient, statement: "connect", error })
    }
}

impl<DB: Backend> Session<DB> {
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
        self.broken = true;
        let error = sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
        Err(Failure { fault: Fault::Connection, statement: name, error })
    }

    fn learn<V>(&mut self, name: &'static str, answer: sqlx::Result<V>) -> Result<V, Failure> {
        answer.map_err(|error| {
            let failure = Failure::new::<DB>(name, error);
            self.broken |= failure.fault == Fault::Connection;
            failure
        })
    }

    /// Gives the connection to whoever waits for one, or back.
    pub(crate) async fn give_back(mut self) {
        if !self.broken
            && let Some(owned) = self.owned.take()
        {
            self.inner.put(owned, None).await;
        }
    }
}

impl<DB: Backend> Drop for Session<DB> {
    fn drop(&mut self) {
        if let Some(owned) = self.owned.take() {
            close(owned.connection);
            self.inner.free();
        }
    }
}
