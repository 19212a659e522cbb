//! Subscriptions without a handler, for services that write their own loop.

use std::sync::Arc;
use std::time::Duration;

use super::ConnectedSqlxBroker;
use super::open::{Opened, Rows, open};
use super::supervise::Stream;
use crate::backend::Backend;
use crate::delivery::DeliveryStream;
use crate::descriptor::{Role, TableDescriptor};
use crate::error::SqlxBrokerError;
use crate::handler::{DeadLetter, Declaration, Needs, QueueTable, Settings, States, TableOn};

/// How a loop of your own is given its rows; what contradicts itself or the table is an error of
/// [`subscribe`](ConnectedSqlxBroker::subscribe).
///
/// ```
/// use queue_table::SubscribeOptions;
///
/// let options = SubscribeOptions::new().group("welcome").in_flight(16);
/// ```
#[derive(Debug, Clone)]
#[must_use = "options do nothing until they are given to `subscribe`"]
pub struct SubscribeOptions {
    settings: Settings,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl SubscribeOptions {
    /// One row at a time, of a table without groups.
    pub fn new() -> Self {
        let settings = Settings::of(Declaration::new("subscribe"));
        Self { settings: Settings { workers: 1, ..settings } }
    }

    /// What the subscription is called in errors and in the log; `subscribe` without it.
    pub const fn name(mut self, name: &'static str) -> Self {
        self.settings.name = name;
        self
    }

    /// Which group of the table is worked on; a table with groups needs one.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.settings.group = Some(group.into());
        self
    }

    /// How many deliveries you have at most: with so many in hand the stream waits until one is
    /// settled or dropped; 1 by default.
    ///
    /// So many rows are claimed before you ask for them, and on lease tables, while you are quick
    /// and the rows are delivered for the first time, as many more as you work off in a tenth of a
    /// second.
    pub const fn in_flight(mut self, deliveries: usize) -> Self {
        self.settings.workers = deliveries;
        self
    }

    /// How long to wait after a claim that found less than it could have; the broker's by default.
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.settings.poll_interval = Some(interval);
        self
    }

    /// For how long a row is leased, and leased again while you have it; the broker's by default.
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = Some(lease);
        self
    }

    /// How often a row is delivered at most; together with
    /// [`dead_letter_group`](Self::dead_letter_group) or, in a table without groups,
    /// [`dead_letter_table`](Self::dead_letter_table).
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.max_attempts = Some(attempts);
        self
    }

    /// The group to which a row goes when its attempts are spent; together with
    /// [`max_attempts`](Self::max_attempts).
    pub fn dead_letter_group(mut self, group: impl Into<String>) -> Self {
        self.settings.dead_letter = Some(DeadLetter::Group(group.into()));
        self
    }

    /// The table to which a row goes when its attempts are spent; together with
    /// [`max_attempts`](Self::max_attempts). It has the columns of the row's own table, with the same
    /// names and types, and may have more.
    pub fn dead_letter_table<D: QueueTable>(mut self) -> Self {
        self.settings.dead_letter = Some(DeadLetter::Table(D::TABLE));
        self
    }

    /// What no type can say, because options are not made for one table.
    fn contradiction(&self, table: &TableDescriptor) -> Option<&'static str> {
        let Settings { group, workers, lease, max_attempts, dead_letter, .. } = &self.settings;
        let has = |role| table.has(role);
        match () {
            () if has(Role::Group) && group.is_none() => {
                Some("the table has groups, and a subscription works on one: add `.group(\"..\")`")
            }
            () if !has(Role::Group) && group.is_some() => Some(
                "the table has no group column: leave `.group(..)` away, or mark a column: \
                 `#[queue(group)]`",
            ),
            () if *workers == 0 => Some("`in_flight` must be at least 1"),
            () if !has(Role::LockedUntil) && lease.is_some() => Some(
                "the table has no lease: leave `.lease(..)` away, or mark a column: \
                 `#[queue(locked_until)]`",
            ),
            () if !has(Role::Attempt) && max_attempts.is_some() => Some(
                "the table does not count deliveries, which `max_attempts` needs: mark a column: \
                 `#[queue(attempt)]`",
            ),
            () => match dead_letter {
                Some(DeadLetter::Group(_)) if !has(Role::Group) => Some(
                    "the table has no group column, so its dead letters are another table: write \
                     `.dead_letter_table::<DeadEmail>()` instead of `.dead_letter_group(..)`",
                ),
                Some(DeadLetter::Table(_)) if has(Role::Group) => Some(
                    "the table has a group column, so its dead letters are a group of it: write \
                     `.dead_letter_group(\"failed\")` instead of `.dead_letter_table::<..>()`",
                ),
                _ => None,
            },
        }
    }
}

impl<DB: Backend> ConnectedSqlxBroker<DB> {
    /// Subscribes to a table without a handler: the stream gives its rows, and you settle each.
    ///
    /// For a service, `#[subscriber]` and [`Service`](crate::Service) do more for you: workers,
    /// time limits, panics, signals. Everything is checked here as in their start, before a row is
    /// claimed. A group of a table has one subscription of a broker at a time; it is free for
    /// another one as soon as the stream is dropped, even if deliveries of it are still in hand.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Declaration`] if the options contradict themselves or the table,
    /// [`SqlxBrokerError::AlreadySubscribed`], [`SqlxBrokerError::Schema`] if the table in the
    /// database is not the declared one, and [`SqlxBrokerError::Connect`].
    ///
    /// # Cancel safety
    /// No row is claimed before the future is ready. Dropped earlier, it leaves nothing behind.
    pub async fn subscribe<T: TableOn<DB>>(
        &self,
        options: SubscribeOptions,
    ) -> Result<DeliveryStream<DB, T>, SqlxBrokerError> {
        let declaration = |reason: &str| SqlxBrokerError::Declaration {
            subscription: options.settings.name.to_owned(),
            table: T::TABLE.to_string(),
            reason: reason.to_owned(),
        };
        if let Some(reason) = options.contradiction(&T::TABLE) {
            return Err(declaration(reason));
        }
        let (needs, states) = (Needs::default(), States::default());
        let opened = open::<DB, T>(&self.shared, options.settings.clone(), &needs, &states);
        let Opened { rows, registration } = opened.await?;
        let leases = match rows {
            Rows::Leases(leases) => leases,
            Rows::RowLocks(_) => {
                return Err(declaration(
                    "a table without a `locked_until` column has no stream yet: mark one, or write \
                     a handler with `#[subscriber]`",
                ));
            }
        };
        let stream = Stream::start(Arc::clone(&leases), self.shared.closing.clone());
        let mut streams = self.shared.streams.lock();
        streams.retain(|stream| !stream.is_over());
        streams.push(stream);
        Ok(DeliveryStream::new(leases, registration))
    }
}
