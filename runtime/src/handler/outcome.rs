//! What a handler says about its row.

use std::fmt::{self, Display};
use std::time::Duration;

/// What a handler says about its row; it is written to the table as exactly that.
///
/// ```
/// use queue_table::Outcome;
/// use std::time::Duration;
///
/// let later = Outcome::retry_after(Duration::from_secs(30)).because("the server is busy");
/// assert_eq!(later.reason(), Some("the server is busy"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an outcome does nothing until the handler returns it"]
pub struct Outcome {
    pub(crate) verb: Verb,
    pub(crate) reason: Option<String>,
}

/// The four things that can happen to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Ack,
    Drop,
    Retry,
    RetryAfter(Duration),
    /// Only for rows that no handler can be given.
    DeadLetter,
}

impl Outcome {
    const fn new(verb: Verb) -> Self {
        Self { verb, reason: None }
    }

    /// The row is done: it is deleted, or marked as processed.
    pub const fn ack() -> Self {
        Self::new(Verb::Ack)
    }

    /// The row is of no use: it ends exactly as with [`ack`](Self::ack).
    pub const fn drop() -> Self {
        Self::new(Verb::Drop)
    }

    /// The row comes back at once, or goes to the dead letters if its attempts are spent.
    pub const fn retry() -> Self {
        Self::new(Verb::Retry)
    }

    /// The row comes back after `delay`, or goes to the dead letters if its attempts are spent.
    ///
    /// On a table without a `retry_after` column it comes back at once, with a warning in the log.
    pub const fn retry_after(delay: Duration) -> Self {
        Self::new(Verb::RetryAfter(delay))
    }

    pub(crate) const fn dead_letter() -> Self {
        Self::new(Verb::DeadLetter)
    }

    /// Says why. The reason of a retry or a dead letter goes to the log, and to the `last_error`
    /// column where the table has one: without NUL characters, and at most 8 KiB of it.
    pub fn because(mut self, reason: impl Display) -> Self {
        self.reason = Some(cleaned(&reason));
        self
    }

    /// Why, if the handler said so.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

/// The longest reason that is stored.
const MAX_REASON: usize = 8 * 1024;

/// No database text holds a NUL on PostgreSQL, and nobody reads megabytes of reason.
fn cleaned(reason: &impl Display) -> String {
    /// Stops taking text where it is long enough, so that a huge reason is never built.
    struct Cleaned(String);

    impl fmt::Write for Cleaned {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for c in text.chars().filter(|c| *c != '\0') {
                if self.0.len() + c.len_utf8() > MAX_REASON {
                    return Err(fmt::Error);
                }
                self.0.push(c);
            }
            Ok(())
        }
    }

    let mut text = Cleaned(String::new());
    // An error here only says that the text was long enough.
    let _ = fmt::write(&mut text, format_args!("{reason}"));
    text.0
}

/// What a handler can return: [`Outcome`], `()` for an ack, or a `Result` whose error is a retry.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens to the row",
    label = "not an outcome",
    note = "return `Outcome`, `()` (ack), or `Result<O, E>` with an error that implements `Display` (retry)"
)]
pub trait IntoOutcome {
    /// Turns the returned value into an outcome.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::ack()
    }
}

#[diagnostic::do_not_recommend]
impl<O: IntoOutcome, E: Display> IntoOutcome for Result<O, E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => Outcome::retry().because(error),
        }
    }
}
