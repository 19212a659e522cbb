//! One handler on one table and group: its statements, its rows in work, and who is told what.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::pace::DueTimes;
use super::{Ledger, Wake};
use crate::backend::{Backend, Connections, Failure, Fault, HostClock, Values, micros};
use crate::descriptor::{Role, TimeForm};
use crate::dialect::{LeaseStatements, Names};
use crate::error::SqlxBrokerError;
use crate::handler::{DecodeFailure, States, TableOn};
use crate::settle::Cap;
use crate::telemetry;

/// The settings of a subscription, all of them decided.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) group: Option<String>,
    pub(crate) workers: usize,
    pub(crate) poll_interval: Duration,
    pub(crate) lease: Duration,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cap: Option<Cap>,
    pub(crate) on_decode_failure: DecodeFailure,
}

/// Who waits for what in a subscription.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Rows may be due.
    pub(crate) wake: Arc<Wake>,
    /// Rows are in the buffer.
    pub(crate) work: Notify,
    /// There is room for rows.
    pub(crate) room: Notify,
    claimer_waits: AtomicBool,
    /// The buffer is low at this many rows.
    low: AtomicUsize,
    /// Outcomes wait to be written.
    pub(crate) outcomes: Notify,
    /// A row was put off.
    pub(crate) due: Notify,
    /// A row was settled while the subscription drains.
    pub(crate) settled: Notify,
    /// No row is claimed or started any more.
    pub(crate) draining: CancellationToken,
    /// Everything is over: what waits for an answer stops waiting.
    pub(crate) over: CancellationToken,
}

impl Signals {
    pub(crate) fn new(wake: Arc<Wake>) -> Self {
        Self {
            wake,
            work: Notify::new(),
            room: Notify::new(),
            claimer_waits: AtomicBool::new(false),
            low: AtomicUsize::new(0),
            outcomes: Notify::new(),
            due: Notify::new(),
            settled: Notify::new(),
            draining: CancellationToken::new(),
            over: CancellationToken::new(),
        }
    }

    /// Waits before a statement is sent again. `true`: everything is over.
    pub(crate) async fn pause(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.over.cancelled() => true,
            () = tokio::time::sleep(pause) => false,
        }
    }

    /// The claimer is about to wait for room.
    pub(crate) fn expect_room(&self) {
        self.claimer_waits.store(true, Ordering::SeqCst);
    }

    /// At how many rows the claimer wants to be told that the buffer is low.
    pub(crate) fn buffer_is_low_at(&self, rows: usize) {
        self.low.store(rows, Ordering::Relaxed);
    }

    /// Deliveries are over: there may be room, and a drain may have ended.
    pub(crate) fn removed(&self, buffered: usize) {
        self.room_at(buffered);
        self.settled.notify_one();
    }

    /// Tells the claimer, if it waits, that there may be room.
    pub(crate) fn room_at(&self, buffered: usize) {
        let low = buffered <= self.low.load(Ordering::Relaxed);
        if low && self.claimer_waits.load(Ordering::SeqCst) {
            self.claimer_waits.store(false, Ordering::SeqCst);
            self.room.notify_one();
        }
    }
}

/// One handler on one table and group of a broker.
#[derive(Debug)]
pub(crate) struct Subscription<DB: Backend, T: TableOn<DB>> {
    pub(crate) name: &'static str,
    pub(crate) names: Names,
    pub(crate) statements: LeaseStatements,
    pub(crate) form: TimeForm,
    pub(crate) settings: Resolved,
    pub(crate) connections: Connections<DB>,
    pub(crate) clock: HostClock,
    pub(crate) states: States,
    pub(crate) ledger: Mutex<Ledger<T::Id, DB::Row>>,
    pub(crate) due: Mutex<DueTimes>,
    pub(crate) signals: Signals,
    pub(crate) ended: Mutex<Option<SqlxBrokerError>>,
    /// What a task of ours panicked with.
    pub(crate) panic: Mutex<Option<Box<dyn std::any::Any + Send>>>,
}

impl<DB: Backend, T: TableOn<DB>> Subscription<DB, T> {
    /// The values that every statement of the subscription can ask for.
    pub(crate) fn values(&self) -> Values<'_, T::Id> {
        let cap = self.settings.cap.as_ref();
        Values {
            group: self.settings.group.as_deref().unwrap_or_default(),
            dead_letter: cap.map_or("", |cap| &cap.dead_letter),
            lease: micros(self.settings.lease),
            now: self.clock.now(),
            shift: self.clock.shift(),
            ..Values::default()
        }
    }

    /// Whether the table can put rows off.
    pub(crate) fn delays(&self) -> bool {
        T::TABLE.has(Role::RetryAfter)
    }

    /// Logs a failed statement, and ends the subscription if no repetition can help.
    pub(crate) fn failed(&self, failure: Failure) -> Fault {
        let Failure { fault, statement, error } = failure;
        telemetry::statement_failed(T::TABLE.name(), statement, &error);
        if fault == Fault::Schema {
            telemetry::subscription_ended(self.name, T::TABLE.name(), &error);
            let ended = SqlxBrokerError::Ended {
                subscription: self.name.to_owned(),
                table: T::TABLE.to_string(),
                statement,
                source: error,
            };
            // Only the first reason counts.
            self.ended.lock().get_or_insert(ended);
            self.signals.draining.cancel();
        }
        fault
    }

    /// Wakes the subscriptions of this process to another group of the table.
    pub(crate) fn wake_group(&self, group: &str) {
        super::wake(self.names.table(), group);
    }
}
