//! The row's primary key.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::keys::Key;
use super::{Ctx, Extractor, FromDelivery, Needs};
use crate::backend::Backend;
use crate::handler::{Cx, Outcome, QueueTable, TableOn};

/// The id of the row, of the type that its field under `#[queue(id)]` has: `Ctx<keys::Id<i64>>`.
///
/// It is the key of what the handler does only once for a row, however often it is delivered. A
/// batch has no id of its own: its handler takes the rows.
///
/// ```
/// use queue_table::prelude::*;
///
/// # #[derive(QueueTable, sqlx::FromRow)]
/// # #[queue_table(name = "payments")]
/// # struct Payment {
/// #     #[queue(id)] id: i64,
/// #     #[queue(locked_until)] locked_until: Option<i64>,
/// #     #[queue(payload)] payload: Vec<u8>,
/// # }
/// #[subscriber(Payment)]
/// async fn pay(cents: &u64, Ctx(id): Ctx<keys::Id<i64>>) -> Outcome {
///     let key = format!("payment {id}");
///     if bank(&key, *cents) { Outcome::ack() } else { Outcome::retry() }
/// }
///
/// # fn bank(key: &str, _: u64) -> bool { key == "payment 7" }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(pay(&100, Ctx(7)).await, Outcome::ack());
/// # }
/// ```
pub struct Id<I>(PhantomData<fn() -> I>);

impl<I> Debug for Id<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Id").finish_non_exhaustive()
    }
}

impl<I: Debug> Key for Id<I> {
    type Value = I;
}

/// A table whose ids are of type `I`.
#[diagnostic::on_unimplemented(
    message = "an id of `{Self}` is not a `{I}`",
    label = "not the id of `{Self}`",
    note = "write the type of the field under `#[queue(id)]`: `Ctx<keys::Id<..>>`"
)]
#[doc(hidden)]
pub trait Identified<I>: QueueTable {
    /// The same id.
    fn same(id: Self::Id) -> I;
}

impl<T: QueueTable> Identified<T::Id> for T {
    fn same(id: T::Id) -> T::Id {
        id
    }
}

impl<T: Identified<I>, I: Debug + Send> Extractor<T> for Ctx<Id<I>> {
    fn needs(needs: &mut Needs) {
        needs.single = Some("Ctx<keys::Id<..>>");
    }
}

impl<DB, T, I> FromDelivery<DB, T> for Ctx<Id<I>>
where
    DB: Backend,
    T: TableOn<DB> + Identified<I>,
    I: Debug + Send,
{
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        cx.id().map(T::same).map(Self)
    }
}
