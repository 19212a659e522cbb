//! What a handler can take besides its message: one extractor a file.

mod attempt;
mod cancellation;
mod ctx;
mod deadline;
mod group;
mod id;
mod pool;
mod state;

use std::any::TypeId;

pub use ctx::{Ctx, keys};
pub use id::Identified;
pub use pool::PoolOf;
pub(crate) use state::States;
pub use state::{Shared, State};

use super::{Cx, Outcome, TableOn};
use crate::backend::Backend;

/// A type that a handler of the table `T` can take by value, on some database.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken by a handler",
    label = "not an extractor",
    note = "a handler takes its message (`&T`), its row (`&Row`), `Ctx<keys::Attempt>` and the other keys of `Ctx`, `State<S>` and `CancellationToken`",
    note = "to share a value of your own, register it with `Service::state` and take `State<{Self}>`"
)]
pub trait Extractor<T>: Send {
    /// Names what the service must have for it.
    #[doc(hidden)]
    fn needs(_needs: &mut Needs) {}
}

/// An extractor on a database and a table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from a delivery of `{T}` on `{DB}`",
    label = "not available for `{T}`",
    note = "`Ctx<keys::Attempt>` needs a column that counts deliveries: `#[queue(attempt)] attempt: i32`"
)]
pub trait FromDelivery<DB: Backend, T: TableOn<DB>>: Extractor<T> + Sized {
    /// Takes the value, or says what happens to the row instead of the handler's call.
    ///
    /// # Errors
    /// The outcome of a delivery from which the value cannot be taken.
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome>;
}

/// What a handler's arguments ask of their service and their subscription.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Needs {
    /// The types of state.
    pub(crate) states: Vec<(TypeId, &'static str)>,
    /// The broker's pool.
    pub(crate) pool: bool,
    /// What only a single row has.
    pub(crate) single: Option<&'static str>,
}
