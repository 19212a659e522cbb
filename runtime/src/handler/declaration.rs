//! What `#[subscriber]` recorded of a handler.

use std::marker::PhantomData;
use std::time::Duration;

use super::dead_letter::Place;
use super::{CountsAttempts, Declared, Grave, Grouped, Leased, Signature, Ungrouped};

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

/// `RetryAfter` in milliseconds.
#[must_use]
pub const fn retry_after(milliseconds: u64) -> DecodeFailure {
    DecodeFailure::RetryAfter(Duration::from_millis(milliseconds))
}

/// The settings of a subscriber as its attribute gives them; the mount can change each.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) group: Option<&'static str>,
    pub(crate) workers: usize,
    pub(crate) batch: Option<usize>,
    pub(crate) poll_interval: Option<Duration>,
    pub(crate) lease: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) dead_letter: Option<Place>,
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
            dead_letter: None,
            on_decode_failure: retry_after(60_000),
            can_fail: false,
        }
    }

    /// The proof that every check of the declaration has compiled.
    #[must_use]
    pub const fn checked(&self) -> usize {
        0
    }
}

/// The declaration of a handler on its way, checked against its table and its arguments.
#[derive(Debug)]
pub struct Declaring<S>(Declaration, PhantomData<fn() -> S>);

/// The proof that a step fits the table `T`.
///
/// It is an argument of its own, so that rustc underlines that, and not all that stands before the
/// step; the names of the functions that give one are part of what rustc prints.
#[derive(Debug)]
pub struct Fits<T>(PhantomData<fn() -> T>);

/// The table groups its rows.
#[must_use]
pub const fn grouped<T: Grouped>() -> Fits<T> {
    Fits(PhantomData)
}

/// The table does not group its rows.
#[must_use]
pub const fn ungrouped<T: Ungrouped>() -> Fits<T> {
    Fits(PhantomData)
}

/// The table counts deliveries.
#[must_use]
pub const fn counted<T: CountsAttempts>() -> Fits<T> {
    Fits(PhantomData)
}

/// The table leases its rows.
#[must_use]
pub const fn leased<T: Leased>() -> Fits<T> {
    Fits(PhantomData)
}

/// A declaration with every default.
#[must_use]
pub const fn of<S: Declared>(name: &'static str) -> Declaring<S> {
    Declaring(Declaration::new(name), PhantomData)
}

// Times are milliseconds, so that each step is a short line.
#[allow(missing_docs, reason = "each step is the attribute's key of that name")]
impl<S: Declared> Declaring<S> {
    #[must_use]
    pub const fn group(mut self, group: &'static str, _: Fits<S::Row>) -> Self {
        self.0.group = Some(group);
        self
    }

    /// The attribute names no group.
    #[must_use]
    pub const fn all_rows(self, _: Fits<S::Row>) -> Self {
        self
    }

    #[must_use]
    pub const fn workers(mut self, workers: usize) -> Self {
        self.0.workers = workers;
        self
    }

    /// The most rows of one call; a handler of single rows has none.
    #[must_use]
    pub const fn batch(mut self, rows: usize) -> Self {
        self.0.batch = Some(rows);
        self
    }

    #[must_use]
    pub const fn poll_interval(mut self, milliseconds: u64) -> Self {
        self.0.poll_interval = Some(Duration::from_millis(milliseconds));
        self
    }

    #[must_use]
    pub const fn lease(mut self, milliseconds: u64, _: Fits<S::Row>) -> Self {
        self.0.lease = Some(Duration::from_millis(milliseconds));
        self
    }

    #[must_use]
    pub const fn timeout(mut self, milliseconds: u64) -> Self {
        self.0.timeout = Some(Duration::from_millis(milliseconds));
        self
    }

    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "it is made for this call and used up")]
    pub const fn max_attempts(
        mut self,
        attempts: u32,
        dead_letter: Grave<S::Row>,
        _: Fits<S::Row>,
    ) -> Self {
        self.0.max_attempts = Some(attempts);
        self.0.dead_letter = Some(dead_letter.0);
        self
    }

    #[must_use]
    pub const fn on_decode_failure(mut self, then: DecodeFailure) -> Self {
        self.0.on_decode_failure = then;
        self
    }

    /// The handler can return an error, and nothing says what becomes of it.
    #[must_use]
    pub const fn can_fail(mut self) -> Self {
        self.0.can_fail = true;
        self
    }

    /// The handler's arguments, with the call that checks them; it is only compiled.
    #[must_use]
    pub const fn args(self, _: fn(Signature<S::Row>, S::Takes)) -> Declaration {
        self.0
    }
}
