//! A broker before it is connected.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::{ConnectOptions, Connection, Pool};

use super::ConnectedSqlxBroker;
use crate::backend::{Backend, Connections, HostClock, Keep};
use crate::error::SqlxBrokerError;

/// How long a server may take to answer the first connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(12);

type Options<DB> = <<DB as sqlx::Database>::Connection as Connection>::Options;

/// A broker that builds its pool when it connects.
#[derive(Debug)]
pub enum OwnPool {}

/// A broker on a pool of the service's own.
#[derive(Debug)]
pub enum SharedPool {}

enum Source<DB: Backend> {
    Url(String),
    Options(Box<Options<DB>>),
    Pool(Pool<DB>),
}

/// What subscriptions take from their broker unless they say otherwise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) poll_interval: Duration,
    pub(crate) lease: Duration,
}

/// A broker before it is connected: settings, which do no I/O and need no runtime.
///
/// ```
/// use std::time::Duration;
/// use queue_table::SqlxBroker;
///
/// # #[cfg(feature = "sqlite")]
/// let broker = SqlxBroker::<sqlx::Sqlite>::from_url("sqlite://queue.db?mode=rwc")
///     .lease(Duration::from_secs(30))
///     .poll_interval(Duration::from_secs(1))
///     .connection_limit(4);
/// ```
#[must_use = "a broker does nothing until it is connected"]
pub struct SqlxBroker<DB: Backend, P = OwnPool> {
    source: Source<DB>,
    pool_options: PoolOptions<DB>,
    defaults: Defaults,
    clock: HostClock,
    marker: PhantomData<fn() -> P>,
}

impl<DB: Backend, P> fmt::Debug for SqlxBroker<DB, P> {
    // Without the source: a URL holds a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlxBroker").field("defaults", &self.defaults).finish_non_exhaustive()
    }
}

impl<DB: Backend> SqlxBroker<DB, OwnPool> {
    /// A broker on the database at `url`. A URL that cannot be read is an error of
    /// [`connect`](Self::connect).
    pub fn from_url(url: impl Into<String>) -> Self {
        Self::new_with(Source::Url(url.into()))
    }

    /// A broker on the database that `options` describe.
    pub fn from_connect_options(options: Options<DB>) -> Self {
        Self::new_with(Source::Options(Box::new(options)))
    }

    /// Sets up the pool that the broker builds.
    pub fn pool_options(mut self, options: PoolOptions<DB>) -> Self {
        self.pool_options = options;
        self
    }

    /// Sets how many connections the broker opens at most; 10 unless `pool_options` say otherwise.
    pub fn connection_limit(mut self, connections: u32) -> Self {
        self.pool_options = self.pool_options.max_connections(connections);
        self
    }
}

impl<DB: Backend> SqlxBroker<DB, SharedPool> {
    /// A broker on a pool that the service built, and uses itself.
    ///
    /// The broker takes a connection for a statement, sets the session up for it and back, which
    /// costs two more round trips than a pool of its own. While more statements wait, it keeps the
    /// connection for them, but gives it back after 50 milliseconds.
    pub fn new(pool: Pool<DB>) -> Self {
        Self::new_with(Source::Pool(pool))
    }
}

impl<DB: Backend, P> SqlxBroker<DB, P> {
    fn new_with(source: Source<DB>) -> Self {
        let defaults =
            Defaults { poll_interval: Duration::from_secs(1), lease: Duration::from_secs(30) };
        Self {
            source,
            // A ping before each use is a round trip; a statement on a dead connection is
            // repeated instead.
            pool_options: PoolOptions::new()
                .test_before_acquire(false)
                // A server that is down is asked again by the loops, with pauses of their own.
                .acquire_timeout(Duration::from_secs(5)),
            defaults,
            clock: HostClock::default(),
            marker: PhantomData,
        }
    }

    /// Sets the poll interval of subscriptions that name none; a second by default.
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.defaults.poll_interval = interval;
        self
    }

    /// Sets the lease of subscriptions that name none; 30 seconds by default.
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.defaults.lease = lease;
        self
    }

    /// Moves the clock of every statement, for tests.
    #[doc(hidden)]
    pub fn clock(mut self, clock: HostClock) -> Self {
        self.clock = clock;
        self
    }

    /// Builds the pool and proves that the database answers.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Url`] if the URL cannot be read, [`SqlxBrokerError::Connect`] if the
    /// database cannot be reached.
    ///
    /// # Cancel safety
    /// Nothing is claimed or written. A connection that is being opened is closed.
    pub async fn connect(self) -> Result<ConnectedSqlxBroker<DB>, SqlxBrokerError> {
        let Self { source, pool_options, defaults, clock, .. } = self;
        let (pool, keep) = match source {
            Source::Pool(pool) => {
                pool.acquire().await.map_err(SqlxBrokerError::Connect)?;
                (pool, Keep::Returned)
            }
            Source::Url(url) => {
                let options = url.parse::<Options<DB>>().map_err(SqlxBrokerError::Url)?;
                (own_pool(pool_options, options).await?, Keep::Held)
            }
            Source::Options(options) => (own_pool(pool_options, *options).await?, Keep::Held),
        };
        Ok(ConnectedSqlxBroker::new(Connections::new(pool, keep), keep, defaults, clock))
    }
}

async fn own_pool<DB: Backend>(
    pool_options: PoolOptions<DB>,
    options: Options<DB>,
) -> Result<Pool<DB>, SqlxBrokerError> {
    // Not through the pool, which repeats a refused connection until its own time limit and then
    // says only that the time is up.
    let connect = tokio::time::timeout(CONNECT_LIMIT, options.connect());
    let silent = || sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    let connection = connect.await.unwrap_or_else(|_| Err(silent()));
    let connection = connection.map_err(SqlxBrokerError::Connect)?;
    let pool = pool_options.connect_lazy_with(options);
    // A database in memory lives as long as a connection to it: the pool has one before this
    // one is closed.
    drop(pool.acquire().await.map_err(SqlxBrokerError::Connect)?);
    let _ = connection.close().await;
    Ok(pool)
}
