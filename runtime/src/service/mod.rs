//! A service: brokers, the subscribers that are mounted on them, and how it starts and stops.

mod mounts;
mod running;
mod signals;

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

pub use mounts::{Mounts, Source};
pub use running::RunningService;

use crate::backend::Backend;
use crate::broker::{Running, Stop};
use crate::error::{Error, SqlxBrokerError};
use crate::handler::States;

/// Starts a subscription that is open.
pub(crate) type Start = Box<dyn FnOnce(Stop) -> Running + Send>;

/// A broker that is connected and whose subscriptions are open, or why it is not.
pub(crate) struct Booted {
    pub(crate) starts: Vec<Start>,
    pub(crate) shutdown: Option<BoxFuture<'static, ()>>,
    pub(crate) errors: Vec<SqlxBrokerError>,
}

type Boot = Box<dyn FnOnce(States) -> BoxFuture<'static, Booted> + Send>;

/// A service: subscribers mounted on the tables of one or more brokers.
///
/// Building it does no I/O and needs no runtime.
#[must_use = "a service does nothing until it runs"]
pub struct Service {
    name: String,
    boots: Vec<Boot>,
    states: States,
    drain_timeout: Duration,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("name", &self.name)
            .field("brokers", &self.boots.len())
            .field("drain_timeout", &self.drain_timeout)
            .finish_non_exhaustive()
    }
}

impl Service {
    /// A service without brokers. Its name stands in its errors and its log.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            boots: Vec::new(),
            states: States::default(),
            drain_timeout: Duration::from_secs(30),
        }
    }

    /// Adds a broker, connected or not, with the subscribers that `mount` mounts on it.
    pub fn with_broker<DB: Backend>(
        mut self,
        broker: impl Source<DB>,
        mount: impl FnOnce(&mut Mounts<DB>),
    ) -> Self {
        let mut mounts = Mounts::new();
        mount(&mut mounts);
        self.boots.push(Box::new(move |states| Box::pin(mounts.boot(broker, states))));
        self
    }

    /// Shares a value with handlers that take a `State<S>`.
    pub fn state<S: Clone + Send + Sync + 'static>(mut self, state: S) -> Self {
        self.states.insert(state);
        self
    }

    /// How long handlers may go on when the service stops; 30 seconds by default. After it they
    /// are aborted, and their rows given back with the count that they had.
    pub const fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout;
        self
    }

    /// Runs until the process gets SIGTERM or Ctrl-C, and drains. A second signal aborts handlers
    /// at once.
    ///
    /// # Errors
    /// [`Error::StartUp`] with everything that is wrong, before a row is claimed;
    /// [`Error::Subscription`] if a subscription ended by itself, after all have drained.
    ///
    /// # Cancel safety
    /// Dropping the future aborts the handlers; their rows are given back in the background with
    /// the counts that they had, or at the end of their leases if the runtime ends as well.
    pub async fn run(self) -> Result<(), Error> {
        let name = self.name.clone();
        let signals = |source| Error::Signals { service: name.clone(), source };
        // Before the start: a signal during the start must not be lost.
        let mut stop = signals::Stop::listen().map_err(signals)?;
        let mut running = tokio::select! {
            running = self.start() => running?,
            // Nothing was claimed yet.
            () = stop.signal() => return Ok(()),
        };
        tokio::select! {
            ended = running.stopped() => return ended,
            () = stop.signal() => running.drain(),
        }
        tokio::select! {
            ended = running.stopped() => return ended,
            () = stop.signal() => running.abort(),
        }
        running.stopped().await
    }

    /// Starts the service and returns a handle, for programs that have their own signals.
    ///
    /// # Errors
    /// [`Error::StartUp`] with everything that is wrong, before a row is claimed.
    ///
    /// # Cancel safety
    /// No row is claimed before the future is ready. Dropped earlier, it leaves nothing behind.
    pub async fn start(self) -> Result<RunningService, Error> {
        let Self { name, boots, states, drain_timeout } = self;
        let mut booted = Vec::new();
        for boot in boots {
            booted.push(boot(states.clone()).await);
        }
        if booted.iter().all(|booted| booted.errors.is_empty()) {
            return Ok(RunningService::start(name, booted, drain_timeout));
        }
        let mut errors = Vec::new();
        for booted in booted {
            errors.extend(booted.errors);
            if let Some(shutdown) = booted.shutdown {
                shutdown.await;
            }
        }
        Err(Error::StartUp { service: name, errors })
    }
}
