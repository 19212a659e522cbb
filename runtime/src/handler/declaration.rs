//! What `#[subscriber]` recorded of a handler.

use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

use super::{Cx, Meta, Needs, Outcome, Outcomes, QueueTable, TableOn};
use crate::backend::Backend;
use crate::handler::IntoOutcome;

/// What happens to a row whose message cannot be decoded. It is never deleted unless `Drop` says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeFailure {
    /// The row ends as if it were acked.
    Drop,
    /// The row comes back at once, until its cap.
    Retry,
    /// The row comes back later, until its cap. This is the default, with a minute.
    RetryAfter(Duration),
    /// The row goes to the dead letters at once.
    DeadLetter,
}

/// The settings of a subscriber as its attribute gives them; the mount can change each.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) group: Option<&'static str>,
    pub(crate) workers: usize,
    pub(crate) batch: Option<usize>,
    pub(crate) poll_interval: Option<Duration>,
    pub(crate) lease: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) dead_letter_group: Option<&'static str>,
    pub(crate) on_decode_failure: DecodeFailure,
    pub(crate) can_fail: bool,
}

impl Declaration {
    /// A subscriber with every default.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            group: None,
            workers: 8,
            batch: None,
            poll_interval: None,
            lease: None,
            timeout: None,
            max_attempts: None,
            dead_letter_group: None,
            on_decode_failure: DecodeFailure::RetryAfter(Duration::from_secs(60)),
            can_fail: false,
        }
    }

    #[must_use]
    pub const fn group(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }

    #[must_use]
    pub const fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// The most rows of one call; a handler of single rows has none.
    #[must_use]
    pub const fn batch(mut self, rows: usize) -> Self {
        self.batch = Some(rows);
        self
    }

    #[must_use]
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = Some(interval);
        self
    }

    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    #[must_use]
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    #[must_use]
    pub const fn dead_letter_group(mut self, group: &'static str) -> Self {
        self.dead_letter_group = Some(group);
        self
    }

    #[must_use]
    pub const fn on_decode_failure(mut self, then: DecodeFailure) -> Self {
        self.on_decode_failure = then;
        self
    }

    /// The handler can return an error, and nothing says what becomes of it.
    #[must_use]
    pub const fn can_fail(mut self) -> Self {
        self.can_fail = true;
        self
    }
}

/// The marker type of a subscriber.
#[doc(hidden)]
pub trait Declared: Sized + Send + 'static {
    /// The table.
    type Row: QueueTable;
    /// [`Set`](super::Set) if the attribute has a cap and a dead letter, else [`Unset`](super::Unset).
    type Cap;
    /// The attribute's settings.
    const DECLARATION: Declaration;
}

/// A subscriber on a database: the generated call of its handler.
#[doc(hidden)]
pub trait Subscribed<DB: Backend>: Declared<Row: TableOn<DB>> {
    /// Takes the handler's arguments and calls it; the error is what happens to rows from which
    /// they cannot be taken.
    fn handle(
        cx: &mut Cx<'_, DB, Self::Row>,
    ) -> impl Future<Output = Result<Outcomes, Outcome>> + Send;

    /// Names what the service must have for it.
    fn needs(needs: &mut Needs);
}

/// The future of a subscriber's function, tagged with the subscriber's marker type.
///
/// It is what the function returns, so that `mount(send)` finds the declaration and a plain
/// `send(&email).await` in a test is still a plain call.
#[must_use = "futures do nothing unless you `.await` them"]
#[doc(hidden)]
pub struct Run<S, F>(F, PhantomData<fn() -> S>);

impl<S, F: Future> Run<S, F> {
    #[doc(hidden)]
    pub const fn new(future: F) -> Self {
        Self(future, PhantomData)
    }
}

impl<S, F> std::fmt::Debug for Run<S, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}

impl<S, F: Future> IntoFuture for Run<S, F> {
    type Output = F::Output;
    type IntoFuture = F;

    fn into_future(self) -> F {
        self.0
    }
}

/// The outcome of a handler without `on_error`.
#[doc(hidden)]
pub fn outcome(returned: impl IntoOutcome) -> Outcome {
    returned.into_outcome()
}

/// The outcome of a handler with `on_error`.
#[doc(hidden)]
pub fn outcome_or<O: IntoOutcome, E>(
    returned: Result<O, E>,
    on_error: impl FnOnce(&E, &Meta) -> Outcome,
    meta: &Meta,
) -> Outcome {
    match returned {
        Ok(value) => value.into_outcome(),
        Err(error) => on_error(&error, meta),
    }
}
