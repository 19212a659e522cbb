//! What is written for a row after a call of the handler.

use std::time::Duration;

use super::Settlement;
use crate::backend::Backend;
use crate::claim::Subscription;
use crate::dialect::Event;
use crate::handler::{RowOutcome, TableOn, Taken, Verb, id};
use crate::telemetry;

/// What is written for a row.
#[derive(Debug)]
pub(crate) struct Settling {
    pub(crate) settlement: Settlement,
    /// Nobody can work on the row now, and the table cannot put it off: this process leaves it
    /// alone for that time.
    pub(crate) pause: Option<Duration>,
}

impl Settling {
    /// What is written for a row of which a call said this, and what a user would look for later
    /// in the log.
    pub(crate) fn of<DB: Backend, T: TableOn<DB>>(
        subscription: &Subscription<DB>,
        verdict: RowOutcome,
        taken: &Taken<DB::Row>,
    ) -> Self {
        let RowOutcome { outcome, undecodable } = verdict;
        let delays = subscription.delays();
        let delayed = match outcome.verb {
            Verb::RetryAfter(pause) if !delays => Some(pause),
            _ => None,
        };
        let cap = subscription.settings.cap.as_ref();
        let settlement = Settlement::of(outcome, taken.attempt, cap, delays);
        if settlement.event == Event::DeadLetter
            && let Ok(id) = id::<DB, T>(&taken.row)
        {
            let reason = settlement.reason.as_deref();
            telemetry::dead_lettered(T::TABLE.name(), &id, taken.attempt, reason);
        }
        if delayed.is_some() && !undecodable {
            telemetry::retry_after_without_column(T::TABLE.name());
        }
        let pause = delayed.filter(|_| undecodable && settlement.event == Event::Retry);
        Self { settlement, pause }
    }
}
