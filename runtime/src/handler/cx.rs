//! What the generated call of a handler works with.

use std::fmt;

use tokio_util::sync::CancellationToken;

use super::{Carries, DecodeFailure, Outcome, States, TableOn};
use crate::backend::Backend;
use crate::claim::{Key, Subscription};
use crate::descriptor::{Form, Role};
use crate::telemetry;

/// What `on_error` is told about the delivery besides the error.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    subscription: &'static str,
    table: &'static str,
    attempt: u32,
}

impl Meta {
    /// The handler's name.
    #[must_use]
    pub const fn subscription(&self) -> &'static str {
        self.subscription
    }

    /// The table's name.
    #[must_use]
    pub const fn table(&self) -> &'static str {
        self.table
    }

    /// The number of this delivery, from 1; always 1 where the table does not count.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }
}

/// One delivery, as the macro's call of a handler sees it.
pub struct Cx<'a, DB: Backend, T: TableOn<DB>> {
    subscription: &'a Subscription<DB, T>,
    key: Key,
    row: &'a DB::Row,
    meta: Meta,
    undecodable: bool,
}

impl<DB: Backend, T: TableOn<DB>> fmt::Debug for Cx<'_, DB, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl<'a, DB: Backend, T: TableOn<DB>> Cx<'a, DB, T> {
    pub(crate) fn new(
        subscription: &'a Subscription<DB, T>,
        key: Key,
        row: &'a DB::Row,
        attempt: i64,
    ) -> Self {
        let meta = Meta {
            subscription: subscription.name,
            table: T::TABLE.name(),
            attempt: u32::try_from(attempt.max(0)).unwrap_or(u32::MAX),
        };
        Self { subscription, key, row, meta, undecodable: false }
    }

    /// What is known of the delivery.
    pub const fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The message.
    ///
    /// # Errors
    /// What happens to a row whose message cannot be decoded.
    pub fn message<M>(&mut self) -> Result<M, Outcome>
    where
        T: Carries<M>,
    {
        let payload = T::TABLE.position(Role::Payload).zip(T::TABLE.column(Role::Payload));
        let bytes = match payload.map(|(at, column)| (at, column.form())) {
            Some((at, Form::Payload(form))) => DB::payload(self.row, at, form),
            _ => unreachable!("only a table with a payload carries messages"),
        };
        let message = bytes.map_err(|error| error.to_string()).and_then(T::decode);
        message.map_err(|error| self.decode_failure(&error))
    }

    /// The row.
    ///
    /// # Errors
    /// What happens to a row that cannot be read.
    pub fn row(&mut self) -> Result<T, Outcome> {
        T::read(self.row).map_err(|error| self.decode_failure(&error.to_string()))
    }

    fn decode_failure(&mut self, error: &str) -> Outcome {
        self.undecodable = true;
        let id = self.subscription.ledger.lock().id(self.key).clone();
        telemetry::message_undecodable(T::TABLE.name(), &id, error);
        let outcome = match self.subscription.settings.on_decode_failure {
            DecodeFailure::Drop => Outcome::drop(),
            DecodeFailure::Retry => Outcome::retry(),
            DecodeFailure::RetryAfter(delay) => Outcome::retry_after(delay),
            DecodeFailure::DeadLetter => Outcome::dead_letter(),
        };
        outcome.because(error)
    }

    pub(crate) const fn key(&self) -> Key {
        self.key
    }

    /// Whether no handler was called, because it could not be given its row.
    pub(crate) const fn is_undecodable(&self) -> bool {
        self.undecodable
    }

    pub(crate) fn states(&self) -> &States {
        &self.subscription.states
    }

    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.subscription.ledger.lock().cancellation(self.key)
    }
}
