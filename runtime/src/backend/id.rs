//! Ids of any type that a database can bind.

use super::{Backend, BindResult};

/// An id that a database can bind, one and many, and read.
///
/// It holds for every id that sqlx knows on the database; on PostgreSQL also as an array,
/// which `#[derive(sqlx::Type)]` with `#[sqlx(transparent)]` brings along.
#[diagnostic::on_unimplemented(
    message = "an id of type `{Self}` cannot be bound on `{DB}`",
    label = "not an id on `{DB}`",
    note = "use a type that sqlx knows there, or a newtype with `#[derive(sqlx::Type)]` and `#[sqlx(transparent)]`"
)]
pub trait IdOn<DB: Backend>: Sized {
    #[doc(hidden)]
    fn bind(&self, arguments: &mut DB::Arguments) -> BindResult;
    #[doc(hidden)]
    fn bind_many(ids: &[Self], arguments: &mut DB::Arguments) -> BindResult;
    #[doc(hidden)]
    fn read(row: &DB::Row, at: usize) -> sqlx::Result<Self>;
    #[doc(hidden)]
    fn one() -> Option<DB::TypeInfo>;
    #[doc(hidden)]
    fn many() -> Option<DB::TypeInfo>;
}
