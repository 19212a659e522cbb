//! Rows and columns as a database stores them.

use sqlx::{Arguments, Decode, Encode, FromRow, Type};

use super::{Backend, BindResult};

/// A row struct that can be read from a row of a database: what `#[derive(sqlx::FromRow)]` makes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a row of `{DB}`",
    label = "not readable on `{DB}`",
    note = "add `sqlx::FromRow` to the derives: `#[derive(QueueTable, sqlx::FromRow)]`"
)]
pub trait RowOf<DB: Backend>: Sized {
    #[doc(hidden)]
    fn read(row: &DB::Row) -> sqlx::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<DB: Backend, T: for<'r> FromRow<'r, DB::Row>> RowOf<DB> for T {
    fn read(row: &DB::Row) -> sqlx::Result<Self> {
        T::from_row(row)
    }
}

/// A type that a column of a database can have.
#[diagnostic::on_unimplemented(
    message = "a column of type `{Self}` cannot be read from or written to `{DB}`",
    label = "not a column type on `{DB}`",
    note = "choose a type that sqlx knows on this database"
)]
pub trait Col<DB: Backend> {
    #[doc(hidden)]
    fn bind(&self, arguments: &mut DB::Arguments) -> BindResult;
}

#[diagnostic::do_not_recommend]
impl<DB: Backend, T> Col<DB> for T
where
    T: Type<DB> + for<'q> Encode<'q, DB> + for<'r> Decode<'r, DB>,
{
    fn bind(&self, arguments: &mut DB::Arguments) -> BindResult {
        arguments.add(self)
    }
}

/// A type in which a database keeps the times of the queue, so that they sort as the times do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold the time of a queue column on `{DB}`",
    label = "not a time that `{DB}` can sort",
    note = "use `DateTime<Utc>` (feature `chrono`) or `i64` (microseconds since 1970), or an `Option` of one of them: SQLite keeps `OffsetDateTime` as a text that does not sort"
)]
pub trait TimeOn<DB: Backend>: Col<DB> {}

impl<DB: Backend> TimeOn<DB> for i64 where Self: Col<DB> {}
impl<DB: Backend, T: TimeOn<DB>> TimeOn<DB> for Option<T> where Self: Col<DB> {}
#[cfg(feature = "chrono")]
impl<DB: Backend> TimeOn<DB> for chrono::DateTime<chrono::Utc> where Self: Col<DB> {}
#[cfg(all(feature = "time", feature = "postgres"))]
impl TimeOn<sqlx::Postgres> for time::OffsetDateTime {}

/// A type of which a database can bind many at once.
#[diagnostic::on_unimplemented(
    message = "many values of type `{Self}` cannot be bound on `{DB}`",
    label = "no array of this type on `{DB}`",
    note = "choose a type that sqlx knows on this database; a type of your own derives `sqlx::Type`"
)]
pub trait Each<DB: Backend>: Col<DB> + Sized {
    #[doc(hidden)]
    fn bind_each(values: &[Self], arguments: &mut DB::Arguments) -> BindResult;
}
