//! An outcome as the table can take it.

use std::time::Duration;

use crate::backend::micros;
use crate::dialect::Event;
use crate::handler::{DeadLetter, Outcome, Verb};

/// How many deliveries a row has, and where it goes after the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cap {
    pub(crate) max_attempts: u32,
    pub(crate) dead_letter: DeadLetter,
}

impl Cap {
    /// Whether no delivery is left after this one.
    pub(crate) fn is_reached(&self, attempt: i64) -> bool {
        attempt >= i64::from(self.max_attempts)
    }

    /// Whether the row was delivered that often already, and each time its process died of it.
    pub(crate) fn is_exceeded(&self, attempt: i64) -> bool {
        attempt > i64::from(self.max_attempts)
    }
}

/// What is written to a row, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The statement.
    pub event: Event,
    /// Microseconds, of a retry_after.
    pub delay: i64,
    /// For the `last_error` column.
    pub reason: Option<String>,
}

impl Settlement {
    /// A settlement without a delay and a reason.
    #[must_use]
    pub const fn new(event: Event) -> Self {
        Self { event, delay: 0, reason: None }
    }

    /// Turns the outcome of a delivery into what the table can take.
    pub(crate) fn of(outcome: Outcome, attempt: i64, cap: Option<&Cap>, delays: bool) -> Self {
        let Outcome { verb, reason } = outcome;
        let spent = cap.is_some_and(|cap| cap.is_reached(attempt));
        let (event, delay) = match verb {
            Verb::Ack | Verb::Drop => (Event::Ack, Duration::ZERO),
            Verb::DeadLetter => (Event::DeadLetter, Duration::ZERO),
            Verb::Retry | Verb::RetryAfter(_) if spent => (Event::DeadLetter, Duration::ZERO),
            Verb::RetryAfter(delay) if delays => (Event::RetryAfter, delay),
            Verb::Retry | Verb::RetryAfter(_) => (Event::Retry, Duration::ZERO),
        };
        Self { event, delay: micros(delay), reason }
    }
}
