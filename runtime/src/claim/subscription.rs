//! One handler on one table and group, whatever owns the rows of the table while they are in work.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Wake;
use super::pace::DueTimes;
use crate::backend::{Backend, Connections, Failure, Fault, HostClock, Values, micros};
use crate::descriptor::{Role, TableDescriptor};
use crate::dialect::{Event, Names};
use crate::error::SqlxBrokerError;
use crate::handler::{DeadLetter, DecodeFailure, States};
use crate::settle::Cap;
use crate::telemetry;

/// The settings of a subscription, all of them decided.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) group: Option<String>,
    pub(crate) workers: usize,
    /// The most rows that a handler is called with.
    pub(crate) batch: usize,
    pub(crate) poll_interval: Duration,
    pub(crate) lease: Duration,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cap: Option<Cap>,
    pub(crate) on_decode_failure: DecodeFailure,
}

/// One handler on one table and group of a broker: what every claim mode needs.
#[derive(Debug)]
pub(crate) struct Subscription<DB: Backend> {
    pub(crate) name: &'static str,
    pub(crate) table: TableDescriptor,
    pub(crate) names: Names,
    /// The table of its dead letters, where these are not a group.
    pub(crate) dead_letters: Option<Names>,
    pub(crate) settings: Resolved,
    pub(crate) connections: Connections<DB>,
    pub(crate) clock: HostClock,
    pub(crate) states: States,
    /// When rows that were put off are due.
    pub(crate) due: Mutex<DueTimes>,
    /// One of them is due sooner than was known.
    pub(crate) due_sooner: Notify,
    /// Rows may be due.
    pub(crate) wake: Arc<Wake>,
    /// No row is claimed or started any more.
    pub(crate) draining: CancellationToken,
    /// Everything is over: what waits for an answer stops waiting.
    pub(crate) over: CancellationToken,
    pub(crate) ended: Mutex<Option<SqlxBrokerError>>,
    /// What a task of ours panicked with.
    pub(crate) panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<DB: Backend> Subscription<DB> {
    /// The values that every statement of the subscription can ask for.
    pub(crate) fn values<Id>(&self) -> Values<'_, Id> {
        let dead_letter = match self.settings.cap.as_ref().map(|cap| &cap.dead_letter) {
            Some(DeadLetter::Group(group)) => group,
            _ => "",
        };
        Values {
            group: self.settings.group.as_deref().unwrap_or_default(),
            dead_letter,
            lease: micros(self.settings.lease),
            now: self.clock.now(),
            shift: self.clock.shift(),
            ..Values::default()
        }
    }

    /// Whether the table can put rows off.
    pub(crate) fn delays(&self) -> bool {
        self.table.has(Role::RetryAfter)
    }

    /// Logs a failed statement, and ends the subscription if no repetition can help.
    pub(crate) fn failed(&self, failure: Failure) -> Fault {
        self.failed_with(failure).0
    }

    /// The same, with the error for whoever waits for the statement.
    pub(crate) fn failed_with(&self, failure: Failure) -> (Fault, Arc<sqlx::Error>) {
        let Failure { fault, statement, error } = failure;
        let error = Arc::new(error);
        telemetry::statement_failed(self.table.name(), statement, &error);
        if fault == Fault::Schema {
            telemetry::subscription_ended(self.name, self.table.name(), &error);
            let ended = SqlxBrokerError::Ended {
                subscription: self.name.to_owned(),
                table: self.table.to_string(),
                statement,
                source: Arc::clone(&error),
            };
            // Only the first reason counts.
            self.ended.lock().get_or_insert(ended);
            self.draining.cancel();
        }
        (fault, error)
    }

    /// Tells this process of rows that were settled and can be claimed now, or later: after these
    /// delays, in microseconds.
    pub(crate) fn follow_up(&self, event: Event, delays: impl IntoIterator<Item = i64>) {
        match event {
            Event::Retry => self.wake.wake(),
            Event::RetryAfter => {
                let now = Instant::now();
                let delays = delays.into_iter().map(|delay| u64::try_from(delay).unwrap_or(0));
                delays.for_each(|delay| self.look_at(now + Duration::from_micros(delay)));
            }
            Event::DeadLetter => match (&self.dead_letters, &self.settings.cap) {
                (Some(table), _) => super::wake_all(table.table()),
                (None, Some(Cap { dead_letter: DeadLetter::Group(group), .. })) => {
                    super::wake(self.names.table(), group);
                }
                _ => {}
            },
            // A row that is dropped again and again comes back no sooner than the next poll.
            Event::Ack | Event::GiveBack | Event::Release => {}
        }
    }

    /// Looks at the table then, and no later.
    pub(crate) fn look_at(&self, due: Instant) {
        if self.due.lock().remember(due) {
            self.due_sooner.notify_one();
        }
    }

    /// Waits for the poll interval, a wake, or the next due time, whichever comes first; no longer
    /// than until the drain.
    pub(crate) async fn idle(&self, poll: Duration) {
        let poll = Instant::now() + poll;
        loop {
            let due = self.due.lock().next();
            let until = due.map_or(poll, |due| due.min(poll));
            tokio::select! {
                () = self.draining.cancelled() => return,
                () = self.wake.woken() => return,
                () = self.due_sooner.notified() => {}
                () = tokio::time::sleep_until(until.into()) => return,
            }
        }
    }

    /// Waits before a statement is sent again. `true`: everything is over.
    pub(crate) async fn pause_or_end(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.over.cancelled() => true,
            () = tokio::time::sleep(pause) => false,
        }
    }

    /// Waits after a failed claim; no longer than until the drain.
    pub(crate) async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = self.draining.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}
