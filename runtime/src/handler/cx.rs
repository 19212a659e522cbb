//! What the generated call of a handler works with.

use std::fmt;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::{Carries, DecodeFailure, Outcome, States, TableOn};
use crate::backend::{Backend, IdOn};
use crate::claim::Subscription;
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

    /// The number of this delivery, from 1; always 1 where the table does not count. In a batch it
    /// is the largest of its rows.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }
}

/// A row in the hands of a worker.
#[derive(Debug)]
#[doc(hidden)]
pub struct Taken<Row> {
    /// The number of this delivery.
    pub(crate) attempt: i64,
    pub(crate) row: Row,
}

/// The rows of one call, as the macro's call of a handler sees them.
pub struct Cx<'a, DB: Backend, T: TableOn<DB>> {
    subscription: &'a Subscription<DB>,
    rows: &'a [Taken<DB::Row>],
    /// Asked once a call at most: most handlers take no cancellation token.
    cancellation: &'a (dyn Fn() -> CancellationToken + Send + Sync),
    /// When the handler is cut off.
    deadline: Option<Instant>,
    meta: Meta,
    /// Rows that cannot be decoded, and what happens to them instead.
    undecodable: Vec<(usize, Outcome)>,
    table: std::marker::PhantomData<fn() -> T>,
}

impl<DB: Backend, T: TableOn<DB>> fmt::Debug for Cx<'_, DB, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl<'a, DB: Backend, T: TableOn<DB>> Cx<'a, DB, T> {
    pub(crate) fn new(
        subscription: &'a Subscription<DB>,
        rows: &'a [Taken<DB::Row>],
        cancellation: &'a (dyn Fn() -> CancellationToken + Send + Sync),
        deadline: Option<Instant>,
    ) -> Self {
        let attempt = rows.iter().map(|taken| taken.attempt).max().unwrap_or(1);
        let meta = Meta {
            subscription: subscription.name,
            table: T::TABLE.name(),
            attempt: u32::try_from(attempt.max(0)).unwrap_or(u32::MAX),
        };
        let table = std::marker::PhantomData;
        Self { subscription, rows, cancellation, deadline, meta, undecodable: Vec::new(), table }
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
        self.only(Self::decode)
    }

    /// The row.
    ///
    /// # Errors
    /// What happens to a row that cannot be read.
    pub fn row(&mut self) -> Result<T, Outcome> {
        self.only(Self::read)
    }

    /// The messages of the batch, without those that cannot be decoded.
    ///
    /// # Errors
    /// None of them can be.
    pub fn messages<M>(&mut self) -> Result<Vec<M>, Outcome>
    where
        T: Carries<M>,
    {
        self.each(Self::decode)
    }

    /// The rows of the batch, without those that cannot be read.
    ///
    /// # Errors
    /// None of them can be.
    pub fn rows(&mut self) -> Result<Vec<T>, Outcome> {
        self.each(Self::read)
    }

    pub(crate) fn decode<M>(row: &DB::Row) -> Result<M, String>
    where
        T: Carries<M>,
    {
        let payload = T::TABLE.position(Role::Payload).zip(T::TABLE.column(Role::Payload));
        let bytes = match payload.map(|(at, column)| (at, column.form())) {
            Some((at, Form::Payload(form))) => DB::payload(row, at, form),
            _ => unreachable!("only a table with a payload carries messages"),
        };
        bytes.map_err(|error| error.to_string()).and_then(T::decode)
    }

    pub(crate) fn read(row: &DB::Row) -> Result<T, String> {
        T::read(row).map_err(|error| error.to_string())
    }

    fn only<V>(&mut self, decode: fn(&DB::Row) -> Result<V, String>) -> Result<V, Outcome> {
        let decoded = decode(&self.rows[0].row);
        decoded.map_err(|error| {
            let outcome = self.decode_failure(0, &error);
            self.undecodable.push((0, outcome.clone()));
            outcome
        })
    }

    fn each<V>(&mut self, decode: fn(&DB::Row) -> Result<V, String>) -> Result<Vec<V>, Outcome> {
        let mut values = Vec::with_capacity(self.rows.len());
        for (n, taken) in self.rows.iter().enumerate() {
            match decode(&taken.row) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let outcome = self.decode_failure(n, &error);
                    self.undecodable.push((n, outcome));
                }
            }
        }
        // No handler is called for nothing, and each row has its outcome already.
        if values.is_empty() { Err(Outcome::retry()) } else { Ok(values) }
    }

    fn decode_failure(&self, n: usize, error: &str) -> Outcome {
        if let Ok(id) = id::<DB, T>(&self.rows[n].row) {
            telemetry::message_undecodable(T::TABLE.name(), &id, error);
        }
        let outcome = match self.subscription.settings.on_decode_failure {
            DecodeFailure::Drop => Outcome::drop(),
            DecodeFailure::Retry => Outcome::retry(),
            DecodeFailure::RetryAfter(delay) => Outcome::retry_after(delay),
            DecodeFailure::DeadLetter => Outcome::dead_letter(),
        };
        outcome.because(error)
    }

    /// Takes what happens to rows for which no handler was called.
    pub(crate) fn into_undecodable(self) -> Vec<(usize, Outcome)> {
        self.undecodable
    }

    pub(crate) const fn states(&self) -> &'a States {
        &self.subscription.states
    }

    pub(crate) fn pool(&self) -> &'a sqlx::Pool<DB> {
        self.subscription.connections.pool()
    }

    /// The subscription's group, in a table that has groups.
    pub(crate) fn group(&self) -> &'a str {
        self.subscription.settings.group.as_deref().unwrap_or_default()
    }

    /// The id of the only row.
    pub(crate) fn id(&mut self) -> Result<T::Id, Outcome> {
        self.only(|row| id::<DB, T>(row).map_err(|error| error.to_string()))
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn cancellation(&self) -> CancellationToken {
        (self.cancellation)()
    }
}

/// The id of a claimed row. The claim read it before, so that an error never happens.
pub(crate) fn id<DB: Backend, T: TableOn<DB>>(row: &DB::Row) -> sqlx::Result<T::Id> {
    let at = T::TABLE.position(Role::Id).unwrap_or_default();
    T::Id::read(row, at)
}
