//! The connections that a broker's own statements run on.
//!
//! Every statement runs in a task that owns its connection to the end: whoever waits for it may
//! stop waiting, and the connection still comes back in a known state. Where there are fewer
//! connections than statements, settlements go before renewals, publishes and claims, in this order.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::SqlStr;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, Pool};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::deadline::{limited, within_deadline};
use super::session::Lending;
use super::{Backend, Failure, Fault, Query};

/// How long a connection of a shared pool goes from statement to statement, although the service
/// itself may wait for it.
const TURN: Duration = Duration::from_millis(50);

/// How often a pool that closes is asked whether only lent connections are left.
const CLOSING: Duration = Duration::from_millis(10);

/// Which statement goes first when they wait for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    Settle,
    Renew,
    Publish,
    Claim,
}

/// What happens to a connection that no statement waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is kept for the next statement: the pool is the broker's own.
    Held,
    /// It goes back: the pool is shared with the service.
    Returned,
}

/// A connection in use, what its session was set to before, and since when it is the queue's.
pub(super) struct Owned<DB: Backend> {
    pub(super) connection: PoolConnection<DB>,
    session: DB::Session,
    since: Instant,
}

struct Slots<DB: Backend> {
    /// How many connections are kept for the next statement; who waits for one gets one all the
    /// same.
    most_idle: usize,
    free: u32,
    idle: Vec<Owned<DB>>,
    waiting: [VecDeque<oneshot::Sender<Option<Owned<DB>>>>; 4],
}

pub(super) struct Inner<DB: Backend> {
    pool: Pool<DB>,
    keep: Keep,
    /// Handlers use the broker's own pool too.
    shared: AtomicBool,
    /// Where the connections were opened.
    runtime: Option<Handle>,
    slots: Mutex<Slots<DB>>,
    pub(super) lending: Lending,
}

/// The connections of one broker, shared by all of its subscriptions.
pub(crate) struct Connections<DB: Backend> {
    pub(super) inner: Arc<Inner<DB>>,
}

impl<DB: Backend> Clone for Connections<DB> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<DB: Backend> fmt::Debug for Connections<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("keep", &self.inner.keep).finish_non_exhaustive()
    }
}

impl<DB: Backend> Connections<DB> {
    pub(crate) fn new(pool: Pool<DB>, keep: Keep) -> Self {
        let most = pool.options().get_max_connections();
        let free = if DB::ONE_WRITER { 1 } else { most };
        let waiting = std::array::from_fn(|_| VecDeque::new());
        let slots = Mutex::new(Slots { most_idle: usize::MAX, free, idle: Vec::new(), waiting });
        let runtime = Handle::try_current().ok();
        let lending = Lending::of(free);
        let shared = AtomicBool::new(false);
        Self { inner: Arc::new(Inner { pool, keep, shared, runtime, slots, lending }) }
    }

    pub(crate) fn pool(&self) -> &Pool<DB> {
        &self.inner.pool
    }

    /// Shares the pool with handlers: from now on connections go back to it.
    pub(crate) async fn share(&self) {
        self.inner.shared.store(true, Ordering::Release);
        let idle = std::mem::take(&mut self.inner.slots.lock().idle);
        for owned in idle {
            self.inner.give_back(owned).await;
        }
    }

    /// Runs a statement to its end and returns its rows.
    ///
    /// Dropping the future does not drop the statement: only its answer is lost.
    pub(crate) async fn rows(
        &self,
        urgency: Urgency,
        query: Query<DB>,
    ) -> Result<Vec<DB::Row>, Failure> {
        let name = query.name;
        let inner = Arc::clone(&self.inner);
        // One task and one box a statement, which carries up to hundreds of rows.
        let task = tokio::spawn(async move { inner.rows(urgency, query).await });
        task.await.unwrap_or_else(|_| Err(stopped(name)))
    }

    /// Prepares statements, each with the types of its parameters, on one connection.
    pub(crate) async fn prepare(
        &self,
        statements: Vec<(&'static str, SqlStr, Vec<DB::TypeInfo>)>,
    ) -> Vec<Failure> {
        let inner = Arc::clone(&self.inner);
        let task = tokio::spawn(async move { inner.prepare(statements).await });
        task.await.unwrap_or_else(|_| vec![stopped("prepare")])
    }

    /// Closes the connections that are kept but one, which the last statements share; and those
    /// that are in use, when they come back.
    pub(crate) async fn keep_one(&self) {
        let Inner { pool, keep, slots, .. } = &*self.inner;
        if *keep == Keep::Returned {
            return;
        }
        let surplus = {
            let mut slots = slots.lock();
            slots.most_idle = 1;
            let one = slots.idle.len().min(1);
            slots.idle.split_off(one)
        };
        for owned in surplus {
            owned.end().await;
        }
        while let Some(connection) = pool.try_acquire() {
            let _ = limited::<DB, _>(connection.close()).await;
        }
    }

    /// Closes the connections that are kept, and the pool unless it is shared with the service.
    /// Those in use are closed or returned by their tasks. Nobody waits for one that is lent to a
    /// delivery: it is closed when the delivery comes to its end.
    pub(crate) async fn close(&self) {
        let Inner { pool, keep, slots, lending, .. } = &*self.inner;
        let is_ours = *keep == Keep::Held;
        if is_ours {
            // Said first, and waited for below: a pool that is open asks what comes back to it
            // whether it lives, and a server that stands still never answers.
            drop(pool.close());
        }
        let idle = {
            let mut slots = slots.lock();
            slots.most_idle = 0;
            std::mem::take(&mut slots.idle)
        };
        drop(idle);
        if is_ours {
            let pool = pool.clone();
            let mut closing = tokio::spawn(async move { pool.close().await });
            while tokio::time::timeout(CLOSING, &mut closing).await.is_err() {
                let lent = lending.lent();
                if lent > 0 && self.inner.pool.size() as usize <= lent {
                    break;
                }
            }
        }
    }
}

impl<DB: Backend> Owned<DB> {
    /// Closes the connection with a word to the server, which may not answer.
    async fn end(self) {
        let _ = limited::<DB, _>(self.connection.close()).await;
    }
}

/// The runtime is going down, and took the statement's task with it.
pub(super) fn stopped(statement: &'static str) -> Failure {
    Failure { fault: Fault::Connection, statement, error: sqlx::Error::WorkerCrashed }
}

impl<DB: Backend> Inner<DB> {
    async fn rows(&self, urgency: Urgency, query: Query<DB>) -> Result<Vec<DB::Row>, Failure> {
        let Query { name, sql, arguments } = query;
        let failed = |error| Failure::new::<DB>(name, error);
        // Nothing was sent, whatever kept us from a connection: the same can be sent again.
        let unsent = |error| Failure { fault: Fault::Transient, statement: name, error };
        let mut owned = self.take(urgency).await.map_err(unsent)?;
        let rows = limited::<DB, _>(DB::rows(&mut owned.connection, sql, arguments)).await;
        self.put(owned, rows.as_ref().err()).await;
        rows.map_err(failed)
    }

    async fn prepare(
        &self,
        statements: Vec<(&'static str, SqlStr, Vec<DB::TypeInfo>)>,
    ) -> Vec<Failure> {
        let mut owned = match self.take(Urgency::Claim).await {
            Ok(owned) => owned,
            Err(error) => {
                let statement = "connect";
                return vec![Failure { fault: Fault::Transient, statement, error }];
            }
        };
        let mut failures = Vec::new();
        for (name, sql, types) in statements {
            let prepared = limited::<DB, _>(DB::prepare(&mut owned.connection, sql, &types)).await;
            let Err(error) = prepared else { continue };
            let failure = Failure::new::<DB>(name, error);
            let is_its_own = matches!(failure.fault, Fault::Schema | Fault::Data);
            failures.push(failure);
            // A lost server or a locked table would stop each of the others as long as it may.
            if !is_its_own {
                break;
            }
        }
        self.put(owned, failures.last().map(|failure| &failure.error)).await;
        failures
    }

    pub(super) async fn take(&self, urgency: Urgency) -> sqlx::Result<Owned<DB>> {
        let turn = {
            let mut slots = self.slots.lock();
            if slots.free > 0 {
                slots.free -= 1;
                Ok(slots.idle.pop())
            } else {
                let (sender, receiver) = oneshot::channel();
                slots.waiting[urgency as usize].push_back(sender);
                Err(receiver)
            }
        };
        let idle = match turn {
            Ok(idle) => idle,
            Err(receiver) => receiver.await.map_err(|_| sqlx::Error::WorkerCrashed)?,
        };
        if let Some(owned) = idle {
            return Ok(owned);
        }
        match self.open().await {
            Ok(owned) => Ok(owned),
            Err(error) => {
                self.free();
                Err(error)
            }
        }
    }

    async fn open(&self) -> sqlx::Result<Owned<DB>> {
        let mut connection = within_deadline(self.pool.acquire()).await?;
        match limited::<DB, _>(DB::enter(&mut connection)).await {
            Ok(session) => Ok(Owned { connection, session, since: Instant::now() }),
            Err(error) => {
                close(connection);
                Err(error)
            }
        }
    }

    pub(super) async fn put(&self, owned: Owned<DB>, error: Option<&sqlx::Error>) {
        if error.is_some_and(|error| DB::fault(error) == Fault::Connection) {
            // The others were opened to the same server and are likely as dead.
            let idle = std::mem::take(&mut self.slots.lock().idle);
            idle.into_iter().chain([owned]).for_each(|owned| close(owned.connection));
            if self.keep == Keep::Held {
                while let Some(connection) = self.pool.try_acquire() {
                    close(connection);
                }
            }
            self.free();
        } else if let Some(owned) = self.hand_over(owned) {
            if self.holds() {
                if let Some(surplus) = self.hold(owned) {
                    surplus.end().await;
                }
            } else {
                self.give_back(owned).await;
                self.free();
            }
        }
    }

    /// Puts a connection back into the pool with the settings that it came with.
    async fn give_back(&self, owned: Owned<DB>) {
        let Owned { mut connection, session, .. } = owned;
        match limited::<DB, _>(DB::leave(&mut connection, session)).await {
            Ok(()) => drop(connection),
            Err(_) => close(connection),
        }
    }

    /// Whether nobody else uses the pool.
    fn holds(&self) -> bool {
        self.keep == Keep::Held && !self.shared.load(Ordering::Acquire)
    }

    /// Gives a connection to the most urgent statement that waits, or back if none does, or if it
    /// is the turn of others in a shared pool.
    fn hand_over(&self, owned: Owned<DB>) -> Option<Owned<DB>> {
        if !self.holds() && owned.since.elapsed() > TURN {
            return Some(owned);
        }
        let mut slots = self.slots.lock();
        let mut owned = Some(owned);
        for waiting in &mut slots.waiting {
            while let Some(waiting) = waiting.pop_front() {
                match waiting.send(owned) {
                    Ok(()) => return None,
                    Err(back) => owned = back,
                }
            }
        }
        owned
    }

    /// Keeps a connection for the next statement, unless enough are kept: then it comes back.
    fn hold(&self, owned: Owned<DB>) -> Option<Owned<DB>> {
        let mut slots = self.slots.lock();
        slots.free += 1;
        // Kept after the close, it would make the pool's own close wait for ever.
        if slots.idle.len() >= slots.most_idle {
            return Some(owned);
        }
        slots.idle.push(owned);
        None
    }

    /// Gives a slot without a connection to the most urgent statement that waits.
    pub(super) fn free(&self) {
        let mut slots = self.slots.lock();
        for waiting in &mut slots.waiting {
            while let Some(waiting) = waiting.pop_front() {
                if waiting.send(None).is_ok() {
                    return;
                }
            }
        }
        slots.free += 1;
    }
}

impl<DB: Backend> Drop for Inner<DB> {
    // The pool takes its connections back in a task, and whoever drops the last of this may be
    // outside of the runtime. One that has ended takes no task, and the connections are closed.
    fn drop(&mut self) {
        let _entered = self.runtime.as_ref().map(Handle::enter);
        self.slots.get_mut().idle.clear();
    }
}

/// Closes a connection without a word to the server, which may not answer.
pub(super) fn close<DB: Backend>(connection: PoolConnection<DB>) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(async move { connection.detach().close_hard().await })),
        // The socket is closed all the same.
        Err(_) => drop(connection.leak()),
    }
}
