//! What can go wrong, and whose fault it is.

use std::fmt;
use std::sync::Arc;

/// An error of a broker, of one of its subscriptions, or of a publish.
///
/// [`is_transient`](Self::is_transient) tells whether repeating can help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlxBrokerError {
    /// The URL cannot be read. Repeating does not help; the text says what is wrong with it.
    #[error("the database's URL cannot be read")]
    Url(#[source] sqlx::Error),

    /// The database cannot be reached. Repeating helps when it comes up.
    #[error("the database cannot be reached")]
    Connect(#[source] sqlx::Error),

    /// The declaration of a subscription contradicts itself or its table, in a way that only run
    /// time can know. Repeating does not help.
    #[error("subscription `{subscription}` on table `{table}`: {reason}")]
    Declaration {
        /// The handler's name.
        subscription: String,
        /// The table.
        table: String,
        /// What is wrong, and what to write instead.
        reason: String,
    },

    /// The table in the database is not the one that is declared. Repeating helps after a migration.
    #[error(
        "subscription `{subscription}`: table `{table}` is not as declared:{}",
        Lines(findings)
    )]
    Schema {
        /// The handler's name.
        subscription: String,
        /// The table.
        table: String,
        /// Everything that was found, not only the first.
        findings: Vec<String>,
    },

    /// A second subscription of one broker to the same table and group. Repeating does not help.
    #[error(
        "subscription `{subscription}`: {} of table `{table}` is subscribed already by `{other}`; \
         raise `workers` there instead",
        GroupOf(group)
    )]
    AlreadySubscribed {
        /// The second handler's name.
        subscription: String,
        /// The first handler's name.
        other: String,
        /// The table.
        table: String,
        /// The group, empty where the table has none.
        group: String,
    },

    /// A handler takes a `State` that the service was not given. Repeating does not help.
    #[error(
        "subscription `{subscription}` takes `State<{state}>`, which the service does not have; \
         add `.state(..)` with a `{state}` to it"
    )]
    MissingState {
        /// The handler's name.
        subscription: String,
        /// The type.
        state: &'static str,
    },

    /// The delivery no longer owns its row: its lease ran out, and the row belongs to whoever
    /// claimed it after; or its transaction was lost; or somebody deleted the row. Nothing was
    /// written, unless the answer to a settlement was lost as well. Repeating does not help; a
    /// longer `lease` helps where the runtime is blocked, or a broker is shut down too soon.
    #[error(
        "subscription `{subscription}`: row {id} of `{table}` is no longer its delivery's; nothing \
         was written"
    )]
    LeaseLost {
        /// The subscription's name.
        subscription: String,
        /// The table.
        table: String,
        /// The row's id.
        id: String,
    },

    /// The database refuses to write the outcome of a row: a foreign key, a check, a trigger, a
    /// table that was altered. A leased row keeps its lease to its end, a locked one is back at
    /// once; it is delivered again. Repeating does not help.
    #[error(
        "subscription `{subscription}`: the database refuses to write `{statement}` to row {id} of \
         `{table}`"
    )]
    Refused {
        /// The subscription's name.
        subscription: String,
        /// What was to be written.
        statement: &'static str,
        /// The table.
        table: String,
        /// The row's id.
        id: String,
        /// Why.
        source: Arc<sqlx::Error>,
    },

    /// The row of a delivery, or its message, cannot be read. Repeating does not help; the delivery
    /// is still there to be settled.
    #[error("subscription `{subscription}`: row {id} of `{table}` cannot be decoded: {reason}")]
    Undecodable {
        /// The subscription's name.
        subscription: String,
        /// The table.
        table: String,
        /// The row's id.
        id: String,
        /// Why.
        reason: String,
    },

    /// The broker was shut down, or its runtime ended. Nothing was written. Repeating does not help.
    #[error("the broker is closed; nothing was written")]
    Closed,

    /// A message could not be written to its table. If [`is_transient`](Self::is_transient) it may
    /// be there all the same, because the answer was lost; else it is not, unless the cause says so.
    #[error("publishing to table `{table}` failed")]
    Publish {
        /// The table.
        table: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
        /// Whether repeating helps.
        transient: bool,
    },

    /// A statement of a subscription fails for good: the table was dropped or altered, or a
    /// permission taken. The subscription drained and ended.
    #[error("subscription `{subscription}` on table `{table}` ended: `{statement}` fails")]
    Ended {
        /// The handler's name.
        subscription: String,
        /// The table.
        table: String,
        /// Which statement failed.
        statement: &'static str,
        /// Why.
        source: Arc<sqlx::Error>,
    },
}

impl SqlxBrokerError {
    /// Whether the same may succeed when it is repeated later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Connect(_) => true,
            Self::Publish { transient, .. } => *transient,
            _ => false,
        }
    }
}

/// An error of a service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service did not start, and claimed nothing. These are the errors of all of its brokers
    /// and subscriptions.
    #[error("service `{service}` did not start:{}", Lines(errors))]
    StartUp {
        /// The service's name.
        service: String,
        /// Every error that was found.
        errors: Vec<SqlxBrokerError>,
    },

    /// A subscription ended while the service ran; the service drained and stopped.
    #[error("service `{service}` stopped, because a subscription ended")]
    Subscription {
        /// The service's name.
        service: String,
        /// Why it ended.
        source: SqlxBrokerError,
    },

    /// The signals of the process cannot be heard.
    #[error("service `{service}` cannot wait for signals")]
    Signals {
        /// The service's name.
        service: String,
        /// Why.
        source: std::io::Error,
    },
}

/// One finding a line, with the causes of an error behind it.
struct Lines<'a, T>(&'a [T]);

impl fmt::Display for Lines<'_, String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n  - {line}"))
    }
}

impl fmt::Display for Lines<'_, SqlxBrokerError> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in self.0 {
            // What an error lists itself stands one step further in.
            write!(f, "\n  - {}", error.to_string().replace('\n', "\n  "))?;
            // A driver's error says what caused it in its own text.
            if let Some(cause) = std::error::Error::source(error) {
                write!(f, ": {cause}")?;
            }
        }
        Ok(())
    }
}

struct GroupOf<'a>(&'a str);

impl fmt::Display for GroupOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("the whole"),
            group => write!(f, "group `{group}`"),
        }
    }
}
