//! One message on its way into a table.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::Executor;

use super::field::{Data, Field, With};
use super::inserted::{Inserted, Place};
use crate::backend::{
    Backend, BindResult, Failure, HostClock, IdOn, PayloadValue, RowSource, Values, bind_rows,
    micros,
};
use crate::dialect::{Clock, Dialect, Insert, Names, RowValue};
use crate::error::SqlxBrokerError;
use crate::handler::{QueueTable, TableOn};

/// A row to be inserted: its message, and what it says of group, delay, id and data columns.
///
/// Columns that it does not name are left to the database's defaults; the attempt column is 1.
#[must_use = "a message is not in the table before it is inserted"]
pub struct Message<T: QueueTable, D = ()> {
    pub(super) payload: Result<Option<PayloadValue>, String>,
    pub(super) id: Option<T::Id>,
    pub(super) group: Option<String>,
    pub(super) delay: Option<Duration>,
    pub(super) columns: Vec<(&'static str, bool)>,
    pub(super) data: D,
}

impl<T: QueueTable, D> std::fmt::Debug for Message<T, D> {
    // Without the message: it may be what must not stand in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message")
            .field("table", &T::TABLE.name())
            .field("group", &self.group)
            .field("delay", &self.delay)
            .finish_non_exhaustive()
    }
}

impl<T: QueueTable> Message<T> {
    pub(crate) const fn new(payload: Result<Option<PayloadValue>, String>) -> Self {
        Self { payload, id: None, group: None, delay: None, columns: Vec::new(), data: () }
    }
}

impl<T: QueueTable, D> Message<T, D> {
    /// Puts the row into a group.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Makes the row due after `delay`, by the database's clock.
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Gives the row an id; without one the database makes it.
    pub fn id(mut self, id: T::Id) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets a data column.
    pub fn set<V>(mut self, field: Field<T, V>, value: V) -> Message<T, With<V, D>> {
        let at = self.columns.len();
        self.columns.push((field.name(), false));
        Message {
            payload: self.payload,
            id: self.id,
            group: self.group,
            delay: self.delay,
            columns: self.columns,
            data: With(value, self.data, at),
        }
    }

    /// Inserts the row with one statement, on a connection, in a transaction or on a pool of the
    /// service's own.
    ///
    /// Nobody is told; after the commit, [`Inserted::wake`] lets this process claim at once.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Publish`] if the message cannot be serialised, if it has a delay and the
    /// table cannot delay rows, or if the database refuses the row.
    ///
    /// # Cancel safety
    /// In a transaction: drop the transaction too, and nothing is inserted. On a pool or a plain
    /// connection the row may or may not be inserted.
    pub fn insert<'c, DB, E>(
        self,
        executor: E,
    ) -> BoxFuture<'c, Result<Inserted<T::Id>, SqlxBrokerError>>
    where
        DB: Backend,
        T: TableOn<DB>,
        D: Data<DB>,
        E: Executor<'c, Database = DB> + 'c,
    {
        let rendered = names::<T>().and_then(|names| {
            let place = Place::new(names.table(), self.group.clone());
            Ok((self.query::<DB>(&names, &HostClock::default())?, place))
        });
        // One allocation a statement: the type of an `async fn` would depend on the executor, and
        // rustc could not see that it is `Send` where that is borrowed from a transaction.
        Box::pin(async move {
            let ((name, sql, arguments), place) = rendered?;
            let rows = DB::rows_on(executor, sql, arguments).await;
            let rows = rows.map_err(|error| failed::<T>(Failure::new::<DB>(name, error)))?;
            Ok(Inserted { id: ids::<DB, T>(&rows)?.remove(0), place })
        })
    }

    pub(super) fn query<DB: Backend>(
        &self,
        names: &Names,
        clock: &HostClock,
    ) -> Result<(&'static str, sqlx::SqlStr, DB::Arguments), SqlxBrokerError>
    where
        T: TableOn<DB>,
        D: Data<DB>,
    {
        let payload = self.payload.as_ref().map_err(|error| refused::<T>(error.clone()))?;
        delayable::<T>(self.delay)?;
        let insert = Insert {
            id: self.id.is_some(),
            group: self.group.is_some(),
            payload: payload.is_some(),
            delay: self.delay.is_some(),
            data: self.columns.clone(),
        };
        let statement = DB::dialect(clock.of_statements()).insert(names, &insert);
        let values = values::<T>(self.group.as_deref(), clock);
        let source = One { message: self, payload: payload.as_ref() };
        let query = bind_rows::<DB, T::Id>(&statement, &values, 1, 1, &source);
        let query = query.map_err(failed::<T>)?;
        Ok((query.name, query.sql, query.arguments))
    }
}

struct One<'a, T: QueueTable, D> {
    message: &'a Message<T, D>,
    payload: Option<&'a PayloadValue>,
}

impl<DB: Backend, T: TableOn<DB>, D: Data<DB>> RowSource<DB> for One<'_, T, D> {
    fn bind(&self, value: RowValue, _row: usize, now: i64, to: &mut DB::Arguments) -> BindResult {
        let delay = micros(self.message.delay.unwrap_or_default());
        match (value, &self.message.id, self.payload) {
            (RowValue::Id, Some(id), _) => IdOn::<DB>::bind(id, to),
            (RowValue::Payload, _, Some(payload)) => DB::bind_payload(to, payload),
            (RowValue::Delay, ..) => DB::bind_int(to, delay),
            (RowValue::Due(form), ..) => DB::bind_time(to, form, Some(now.saturating_add(delay))),
            (RowValue::Data(at), ..) => self.message.data.bind(at, to),
            _ => unreachable!("an insert asks only for what the message has"),
        }
    }

    fn bind_all(&self, _value: RowValue, _to: &mut DB::Arguments) -> BindResult {
        unreachable!("one row has no arrays")
    }
}

/// The quoted names of the table.
pub(super) fn names<T: QueueTable>() -> Result<Names, SqlxBrokerError> {
    Names::new(&T::TABLE)
        .ok_or_else(|| refused::<T>("the table has no `id` or no `locked_until` column".to_owned()))
}

pub(super) fn values<'a, T: QueueTable>(
    group: Option<&'a str>,
    clock: &HostClock,
) -> Values<'a, T::Id> {
    Values {
        group: group.unwrap_or_default(),
        now: clock.now(),
        shift: match clock.of_statements() {
            Clock::Shifted => clock.shift(),
            Clock::Database => 0,
        },
        ..Values::default()
    }
}

/// A delay needs a column, or it would be lost in silence.
pub(super) fn delayable<T: QueueTable>(delay: Option<Duration>) -> Result<(), SqlxBrokerError> {
    if delay.is_some() && !T::TABLE.has(crate::descriptor::Role::RetryAfter) {
        return Err(refused::<T>(
            "a delay needs a `retry_after` column: `#[queue(retry_after)] retry_after: \
             Option<DateTime<Utc>>`"
                .to_owned(),
        ));
    }
    Ok(())
}

pub(super) fn ids<DB: Backend, T: TableOn<DB>>(
    rows: &[DB::Row],
) -> Result<Vec<T::Id>, SqlxBrokerError> {
    let ids: sqlx::Result<Vec<_>> = rows.iter().map(|row| T::Id::read(row, 0)).collect();
    match ids {
        Ok(ids) if ids.is_empty() => Err(refused::<T>(
            "the database inserted no row: a trigger or a rule took it".to_owned(),
        )),
        Ok(ids) => Ok(ids),
        Err(error) => Err(failed::<T>(Failure::new::<DB>("insert", error))),
    }
}

/// Nothing was sent.
pub(super) fn refused<T: QueueTable>(reason: String) -> SqlxBrokerError {
    SqlxBrokerError::Publish {
        table: T::TABLE.to_string(),
        source: reason.into(),
        transient: false,
    }
}

pub(super) fn failed<T: QueueTable>(failure: Failure) -> SqlxBrokerError {
    use crate::backend::Fault;
    SqlxBrokerError::Publish {
        table: T::TABLE.to_string(),
        transient: matches!(
            failure.fault,
            Fault::Transient | Fault::Full | Fault::Blocked | Fault::Connection
        ),
        source: Box::new(failure.error),
    }
}
