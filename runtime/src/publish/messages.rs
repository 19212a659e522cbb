//! Many messages on their way into a table, in one statement.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::Executor;

use super::field::{DataOfEach, Field, With, WithEach};
use super::inserted::{InsertedMany, Place};
use super::message::{delayable, failed, ids, names, refused, values};
use crate::backend::{
    Backend, BindResult, Failure, HostClock, IdOn, PayloadValue, RowSource, Values, bind_rows,
    micros,
};
use crate::dialect::{Dialect, Insert, Names, RowValue};
use crate::error::SqlxBrokerError;
use crate::handler::{QueueTable, TableOn};

/// Rows to be inserted together, with one group and one delay.
#[must_use = "messages are not in the table before they are inserted"]
pub struct Messages<T: QueueTable, D = ()> {
    payloads: Result<Vec<PayloadValue>, String>,
    ids: Option<Vec<T::Id>>,
    group: Option<String>,
    delay: Option<Duration>,
    columns: Vec<(&'static str, bool)>,
    data: D,
}

impl<T: QueueTable, D> std::fmt::Debug for Messages<T, D> {
    // Without the message: it may be what must not stand in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Messages")
            .field("table", &T::TABLE.name())
            .field("group", &self.group)
            .field("delay", &self.delay)
            .finish_non_exhaustive()
    }
}

impl<T: QueueTable> Messages<T> {
    pub(crate) const fn new(payloads: Result<Vec<PayloadValue>, String>) -> Self {
        Self { payloads, ids: None, group: None, delay: None, columns: Vec::new(), data: () }
    }
}

impl<T: QueueTable> Messages<T> {
    /// Messages that are serialised already.
    pub(super) fn of(
        payloads: Vec<PayloadValue>,
        group: Option<String>,
        delay: Option<Duration>,
    ) -> Self {
        Self { group, delay, ..Self::new(Ok(payloads)) }
    }
}

impl<T: QueueTable, D> Messages<T, D> {
    /// Puts the rows into a group.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Makes the rows due after `delay`, by the database's clock.
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Gives each row an id; without them the database makes them.
    pub fn ids(mut self, ids: impl IntoIterator<Item = T::Id>) -> Self {
        self.ids = Some(ids.into_iter().collect());
        self
    }

    /// Sets a data column of all rows to one value.
    pub fn set<V>(mut self, field: Field<T, V>, value: V) -> Messages<T, With<V, D>> {
        let at = self.columns.len();
        self.columns.push((field.name(), false));
        self.map(|data| With(value, data, at))
    }

    /// Sets a data column of each row, in the order of the messages.
    pub fn set_each<V>(
        mut self,
        field: Field<T, V>,
        values: impl IntoIterator<Item = V>,
    ) -> Messages<T, WithEach<V, D>> {
        let at = self.columns.len();
        self.columns.push((field.name(), true));
        self.map(|data| WithEach(values.into_iter().collect(), data, at))
    }

    fn map<E>(self, data: impl FnOnce(D) -> E) -> Messages<T, E> {
        Messages {
            payloads: self.payloads,
            ids: self.ids,
            group: self.group,
            delay: self.delay,
            columns: self.columns,
            data: data(self.data),
        }
    }

    /// Inserts the rows with one statement, on a connection, in a transaction or on a pool of the
    /// service's own: all of them or none.
    ///
    /// No message is no statement. Nobody is told; after the commit, [`InsertedMany::wake`] lets
    /// this process claim at once.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Publish`] if a message cannot be serialised, if the ids or the values of
    /// a column are not as many as the messages, if they are more than one statement takes (32 702
    /// values on SQLite), or if the database refuses a row.
    ///
    /// # Cancel safety
    /// In a transaction: drop the transaction too, and nothing is inserted. On a pool or a plain
    /// connection all rows or none are inserted.
    pub fn insert<'c, DB, E>(
        self,
        executor: E,
    ) -> BoxFuture<'c, Result<InsertedMany<T::Id>, SqlxBrokerError>>
    where
        DB: Backend,
        T: TableOn<DB>,
        D: DataOfEach<DB>,
        E: Executor<'c, Database = DB> + 'c,
    {
        let rendered = names::<T>().and_then(|names| {
            let place = Place::new(names.table(), self.group.clone());
            Ok((self.query::<DB>(&names, &HostClock::default())?, place))
        });
        // Boxed for the reason that stands at `Message::insert`.
        Box::pin(async move {
            let (query, place) = rendered?;
            let Some((name, sql, arguments)) = query else {
                return Ok(InsertedMany { ids: Vec::new(), place });
            };
            let rows = DB::rows_on(executor, sql, arguments).await;
            let rows = rows.map_err(|error| failed::<T>(Failure::new::<DB>(name, error)))?;
            Ok(InsertedMany { ids: ids::<DB, T>(&rows)?, place })
        })
    }

    #[allow(clippy::type_complexity, reason = "the parts of a statement, named once")]
    pub(super) fn query<DB: Backend>(
        &self,
        names: &Names,
        clock: &HostClock,
    ) -> Result<Option<(&'static str, sqlx::SqlStr, DB::Arguments)>, SqlxBrokerError>
    where
        T: TableOn<DB>,
        D: DataOfEach<DB>,
    {
        let payloads = self.payloads.as_ref().map_err(|error| refused::<T>(error.clone()))?;
        let rows = payloads.len();
        if rows == 0 {
            return Ok(None);
        }
        delayable::<T>(self.delay)?;
        if self.ids.as_ref().is_some_and(|ids| ids.len() != rows) || !self.data.has(rows) {
            return Err(refused::<T>(format!(
                "there are {rows} messages, and not as many ids or values of a column"
            )));
        }
        let insert = Insert {
            id: self.ids.is_some(),
            group: self.group.is_some(),
            payload: true,
            delay: self.delay.is_some(),
            data: self.columns.clone(),
        };
        let dialect = DB::dialect(clock.of_statements());
        let Some((statement, bound)) = dialect.insert_many(names, &insert, rows) else {
            return Err(refused::<T>(format!(
                "{rows} messages are more than one statement takes; insert them in parts"
            )));
        };
        let limit = i64::try_from(rows).unwrap_or(i64::MAX);
        let values = Values { limit, ..values::<T>(self.group.as_deref(), clock) };
        let source = Many { messages: self, payloads };
        let query = bind_rows::<DB, T::Id>(&statement, &values, rows, bound, &source);
        let query = query.map_err(failed::<T>)?;
        Ok(Some((query.name, query.sql, query.arguments)))
    }
}

struct Many<'a, T: QueueTable, D> {
    messages: &'a Messages<T, D>,
    payloads: &'a [PayloadValue],
}

impl<DB: Backend, T: TableOn<DB>, D: DataOfEach<DB>> RowSource<DB> for Many<'_, T, D> {
    fn bind(&self, value: RowValue, row: usize, now: i64, to: &mut DB::Arguments) -> BindResult {
        let delay = micros(self.messages.delay.unwrap_or_default());
        match (value, &self.messages.ids) {
            (RowValue::Id, Some(ids)) => IdOn::<DB>::bind(&ids[row], to),
            (RowValue::Payload, _) => DB::bind_payload(to, &self.payloads[row]),
            (RowValue::Delay, _) => DB::bind_int(to, delay),
            (RowValue::Due(form), _) => DB::bind_time(to, form, Some(now.saturating_add(delay))),
            (RowValue::Data(at), _) => self.messages.data.bind(at, row, to),
            _ => unreachable!("an insert asks only for what the messages have"),
        }
    }

    fn bind_all(&self, value: RowValue, to: &mut DB::Arguments) -> BindResult {
        match (value, &self.messages.ids) {
            (RowValue::Id, Some(ids)) => IdOn::<DB>::bind_many(ids, to),
            (RowValue::Payload, _) => DB::bind_payloads(to, self.payloads),
            (RowValue::Data(at), _) => self.messages.data.bind_each(at, to),
            _ => unreachable!("an insert asks only for what the messages have"),
        }
    }
}
