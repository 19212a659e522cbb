//! Rows and columns as a database stores them.

use sqlx::{Decode, Encode, FromRow, Type};

use super::Backend;

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
pub trait Col<DB: Backend> {}

#[diagnostic::do_not_recommend]
impl<DB: Backend, T> Col<DB> for T where T: Type<DB> + for<'q> Encode<'q, DB> + for<'r> Decode<'r, DB> {}
