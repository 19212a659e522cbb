//! One claimed row on its way through a handler.
//!
//! A delivery is settled at most once. One that is dropped, because its worker was aborted, gives
//! its row back with the count that it had.

mod worker;

use std::time::Duration;

use crate::backend::{Backend, LONGEST};
use crate::claim::{Key, Subscription};
use crate::dialect::Event;
use crate::handler::TableOn;
use crate::settle::Settlement;
use crate::telemetry;
pub(crate) use worker::work;

/// A row that a worker has.
pub(crate) struct Delivery<'a, DB: Backend, T: TableOn<DB>> {
    subscription: &'a Subscription<DB, T>,
    key: Key,
    settled: bool,
}

impl<'a, DB: Backend, T: TableOn<DB>> Delivery<'a, DB, T> {
    pub(crate) const fn new(subscription: &'a Subscription<DB, T>, key: Key) -> Self {
        Self { subscription, key, settled: false }
    }

    /// Hands the outcome to the settler, and does not wait for it.
    pub(crate) fn settle(mut self, settlement: Settlement, took: Duration) {
        self.finish(settlement, Some(took));
    }

    /// Keeps the row leased for a while, because nobody can work on it now.
    pub(crate) fn hold(mut self, pause: Duration, settlement: Settlement) {
        self.settled = true;
        let until = std::time::Instant::now() + pause.min(LONGEST);
        let Subscription { ledger, signals, .. } = self.subscription;
        let buffered = {
            let mut ledger = ledger.lock();
            ledger.hold(self.key, until, settlement);
            ledger.buffered()
        };
        signals.outcomes.notify_one();
        // Its worker is free.
        signals.room_at(buffered);
    }

    fn finish(&mut self, settlement: Settlement, took: Option<Duration>) {
        self.settled = true;
        let Subscription { ledger, signals, .. } = self.subscription;
        let (first, buffered) = {
            let mut ledger = ledger.lock();
            let written = ledger.finish(self.key, settlement, took);
            (written && ledger.is_first_waiting(), ledger.buffered())
        };
        if first {
            signals.outcomes.notify_one();
        }
        signals.room_at(buffered);
        if signals.draining.is_cancelled() {
            signals.settled.notify_one();
        }
    }
}

impl<DB: Backend, T: TableOn<DB>> Drop for Delivery<'_, DB, T> {
    fn drop(&mut self) {
        if !self.settled {
            self.finish(Settlement::new(Event::GiveBack), None);
        }
    }
}

/// Says in the log what a user would look for later.
fn log<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    key: Key,
    settlement: &Settlement,
) {
    if settlement.event == Event::DeadLetter {
        let (id, attempt) = {
            let ledger = subscription.ledger.lock();
            (ledger.id(key).clone(), ledger.attempt(key))
        };
        telemetry::dead_lettered(T::TABLE.name(), &id, attempt, settlement.reason.as_deref());
    }
}
