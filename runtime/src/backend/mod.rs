//! Statements to sqlx: binding, running, decoding, and what an error means.
//!
//! One thin file per database. Everything above says `DB: Backend` and `T: TableOn<DB>` and never
//! meets a bound of sqlx's.

mod bind;
mod clock;
mod connections;
mod deadline;
mod fault;
mod id;
mod payload;
#[cfg(feature = "postgres")]
mod postgres;
mod query;
mod row;
mod session;
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod transfer;

use std::future::Future;

use sqlx::SqlStr;
use sqlx::{Database, Executor};

pub(crate) use bind::{RowSource, bind, bind_many, bind_rows, types};
pub use bind::{RowsOf, Values, arguments};
pub use clock::HostClock;
pub(crate) use clock::{LONGEST, micros};
pub(crate) use connections::{Connections, Keep, Urgency};
pub use fault::Fault;
pub use id::IdOn;
pub use payload::PayloadValue;
pub(crate) use query::{Failure, Query};
pub use row::{Col, Each, RowOf, TimeOn};
pub(crate) use session::Session;
pub(crate) use sql::Sql;
pub(crate) use transfer::Transfer;

use crate::descriptor::{Count, PayloadForm, TimeForm};
use crate::dialect::{Clock, Dialect};

/// A database that queues can live in: `Postgres` or `Sqlite`, each behind its feature.
///
/// It is implemented here and nowhere else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a database that queue-table knows",
    label = "not a database of queue-table",
    note = "use `Postgres` (feature `postgres`) or `Sqlite` (feature `sqlite`)"
)]
pub trait Backend: Database + sealed::Sealed {
    /// Who writes its statements.
    #[doc(hidden)]
    type Dialect: Dialect;

    /// One connection writes at a time, so that more than one would only wait for its lock.
    #[doc(hidden)]
    const ONE_WRITER: bool;

    /// A statement that waits is ended by the server; a client must not drop it.
    #[doc(hidden)]
    const INTERRUPTIBLE: bool;

    /// How a transaction that locks rows is begun and ended; `None` where rows cannot be locked.
    #[doc(hidden)]
    const CHAIN: Option<Chain>;

    /// What a session was set to before the queue used it.
    #[doc(hidden)]
    type Session: Send + 'static;

    #[doc(hidden)]
    fn dialect(clock: Clock) -> Self::Dialect;

    /// Runs a statement to its end and returns all of its rows.
    #[doc(hidden)]
    fn rows(
        connection: &mut Self::Connection,
        sql: SqlStr,
        arguments: Self::Arguments,
    ) -> impl Future<Output = sqlx::Result<Vec<Self::Row>>> + Send;

    /// Runs a text of [`CHAIN`](Self::CHAIN): one message, no parameters.
    #[doc(hidden)]
    fn run_text(
        connection: &mut Self::Connection,
        text: &'static str,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// The same on whatever the user hands over: a pool, a connection, a transaction.
    #[doc(hidden)]
    fn rows_on<'c, E>(
        executor: E,
        sql: SqlStr,
        arguments: Self::Arguments,
    ) -> impl Future<Output = sqlx::Result<Vec<Self::Row>>> + Send + 'c
    where
        E: Executor<'c, Database = Self> + 'c;

    /// Prepares a statement, which finds missing tables and columns.
    #[doc(hidden)]
    fn prepare(
        connection: &mut Self::Connection,
        sql: SqlStr,
        types: &[Self::TypeInfo],
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Sets a session to what the queue relies on.
    #[doc(hidden)]
    fn enter(
        connection: &mut Self::Connection,
    ) -> impl Future<Output = sqlx::Result<Self::Session>> + Send;

    /// Puts a session back to what it was.
    #[doc(hidden)]
    fn leave(
        connection: &mut Self::Connection,
        session: Self::Session,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    #[doc(hidden)]
    fn fault(error: &sqlx::Error) -> Fault;

    #[doc(hidden)]
    fn bind_int(arguments: &mut Self::Arguments, value: i64) -> BindResult;
    #[doc(hidden)]
    fn bind_ints(arguments: &mut Self::Arguments, values: &[i64]) -> BindResult;
    #[doc(hidden)]
    fn bind_text(arguments: &mut Self::Arguments, value: Option<&str>) -> BindResult;
    #[doc(hidden)]
    fn bind_texts(arguments: &mut Self::Arguments, values: &[Option<String>]) -> BindResult;
    #[doc(hidden)]
    fn bind_time(arguments: &mut Self::Arguments, form: TimeForm, value: Option<i64>)
    -> BindResult;
    #[doc(hidden)]
    fn bind_times(arguments: &mut Self::Arguments, form: TimeForm, values: &[i64]) -> BindResult;
    #[doc(hidden)]
    fn bind_payload(arguments: &mut Self::Arguments, value: &PayloadValue) -> BindResult;
    #[doc(hidden)]
    fn bind_payloads(arguments: &mut Self::Arguments, values: &[PayloadValue]) -> BindResult;

    /// The types of a statement's parameters, where the server must be told them.
    #[doc(hidden)]
    fn type_of(value: Bound) -> Option<Self::TypeInfo>;

    #[doc(hidden)]
    fn int(row: &Self::Row, at: usize) -> sqlx::Result<i64>;
    #[doc(hidden)]
    fn text(row: &Self::Row, at: usize) -> sqlx::Result<String>;
    #[doc(hidden)]
    fn count(row: &Self::Row, at: usize, count: Count) -> sqlx::Result<i64>;
    #[doc(hidden)]
    fn time(row: &Self::Row, at: usize, form: TimeForm) -> sqlx::Result<Option<i64>>;
    /// The message's bytes, lent by the row.
    #[doc(hidden)]
    fn payload(row: &Self::Row, at: usize, form: PayloadForm) -> sqlx::Result<&[u8]>;
    /// How many bytes the row holds.
    #[doc(hidden)]
    fn size(row: &Self::Row) -> usize;
}

/// A database that can lock rows for as long as they are in work: what a table without a lease
/// column needs.
#[diagnostic::on_unimplemented(
    message = "`{T}` is a row-lock table, and `{Self}` locks no rows: make it a lease table (a `locked_until` column) or an advisory-lock table",
    label = "`{Self}` locks no rows",
    note = "add the lease column: `#[queue(locked_until)] locked_until: Option<DateTime<Utc>>`",
    note = "advisory locks, `#[queue_table(advisory_lock = \"..\")]`, are not there yet"
)]
pub trait LocksRows<T>: Backend {}

/// The texts around deliveries whose rows are locked by a transaction, one message each.
///
/// One delivery follows the other on the same connection for a while, and the commit of one begins
/// the transaction of the next.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Chain {
    /// Begins the first transaction.
    pub begin: &'static str,
    /// Commits, and begins the next one.
    pub commit_and_begin: &'static str,
    /// Commits the last one.
    pub commit: &'static str,
    /// Undoes a transaction, and begins the next one.
    pub rollback_and_begin: &'static str,
    /// Undoes the last one.
    pub rollback: &'static str,
    /// Marks what comes before a statement that may be refused.
    pub mark: &'static str,
    /// Undoes a refused statement.
    pub undo: &'static str,
    /// Asks whether the connection is alive.
    pub probe: &'static str,
}

/// What a bound value is, for databases whose servers must be told its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Bound {
    /// An integer.
    Int,
    /// An array of integers.
    Ints,
    /// A text.
    Text,
    /// An array of texts.
    Texts,
    /// A time.
    Time(TimeForm),
    /// An array of times.
    Times(TimeForm),
}

#[doc(hidden)]
pub type BindResult = Result<(), sqlx::error::BoxDynError>;

mod sealed {
    /// Only this crate knows how a database behaves.
    pub trait Sealed {}
    #[cfg(feature = "postgres")]
    impl Sealed for sqlx::Postgres {}
    #[cfg(feature = "sqlite")]
    impl Sealed for sqlx::Sqlite {}
}
