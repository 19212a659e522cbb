//! A service that runs.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use super::Booted;
use crate::broker::Stop;
use crate::error::{Error, SqlxBrokerError};
use crate::telemetry;

/// A service that runs. Dropping it aborts its handlers, and gives their rows back in the
/// background.
#[derive(Debug)]
#[must_use = "dropping a running service stops it"]
pub struct RunningService {
    name: String,
    stop: Stop,
    task: Option<JoinHandle<Option<SqlxBrokerError>>>,
    _guard: DropGuard,
}

impl RunningService {
    pub(super) fn start(name: String, booted: Vec<Booted>, drain_timeout: Duration) -> Self {
        let stop = Stop::new(drain_timeout);
        let guard = stop.abort.clone().drop_guard();
        let task = tokio::spawn(run(booted, stop.clone()));
        Self { name, stop, task: Some(task), _guard: guard }
    }

    /// Waits until the service has stopped: after [`shutdown`](Self::shutdown) of another task, or
    /// because a subscription ended by itself.
    ///
    /// # Errors
    /// [`Error::Subscription`] if a subscription ended by itself, after all have drained.
    ///
    /// # Cancel safety
    /// Nothing is lost: it can be called again.
    pub async fn stopped(&mut self) -> Result<(), Error> {
        let Some(task) = &mut self.task else {
            return Ok(());
        };
        let ended = task.await;
        self.task = None;
        match ended {
            Ok(None) => Ok(()),
            Ok(Some(source)) => Err(Error::Subscription { service: self.name.clone(), source }),
            // A bug of ours, which must not look like an orderly end.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Ok(()),
        }
    }

    /// Stops claiming, lets handlers end within the drain timeout, writes what they said, and
    /// closes the brokers.
    ///
    /// # Errors
    /// [`Error::Subscription`] if a subscription had ended by itself.
    ///
    /// # Cancel safety
    /// Dropping the future aborts the handlers; their rows are given back in the background with
    /// the counts that they had.
    pub async fn shutdown(mut self) -> Result<(), Error> {
        self.drain();
        self.stopped().await
    }

    /// Starts draining.
    pub(super) fn drain(&self) {
        telemetry::service_draining(&self.name);
        self.stop.drain.cancel();
    }

    /// Ends the drain at once.
    pub(super) fn abort(&self) {
        self.stop.abort.cancel();
    }
}

/// Runs every subscription until all have ended; the first that ends by itself stops the others.
async fn run(booted: Vec<Booted>, stop: Stop) -> Option<SqlxBrokerError> {
    let mut shutdowns = Vec::new();
    let mut running = FuturesUnordered::new();
    for Booted { starts, shutdown, .. } in booted {
        running.extend(starts.into_iter().map(|start| start(stop.clone()).ended()));
        shutdowns.extend(shutdown);
    }
    if running.is_empty() {
        // A service that only publishes runs until it is told to stop.
        tokio::select! {
            () = stop.drain.cancelled() => {}
            () = stop.abort.cancelled() => {}
        }
    }
    let mut first = None;
    while let Some(ended) = running.next().await {
        stop.drain.cancel();
        first = first.or(ended);
    }
    for shutdown in shutdowns {
        shutdown.await;
    }
    first
}
