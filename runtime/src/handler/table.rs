//! A row struct as the queue sees it.

use crate::backend::{Backend, IdOn, RowOf};
use crate::descriptor::{RowId, TableDescriptor};
use crate::handler::{KindOf, MessageOf, Takes, Tie, TiedTo};
use crate::publish::{Field, Message, Messages};

/// A row struct that is a queue table: what `#[derive(QueueTable)]` implements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a queue table",
    label = "not a queue table",
    note = "add `#[derive(QueueTable, sqlx::FromRow)]` and `#[queue_table(name = \"..\")]` to `{Self}`"
)]
pub trait QueueTable: Sized + Send + Sync + Unpin + 'static {
    /// The type of the primary key.
    type Id: RowId;
    /// The type of the payload column, or [`RowItself`] where handlers take the row.
    type Payload: Tie;
    /// What the declaration says.
    const TABLE: TableDescriptor;

    /// A row with a message, to be inserted.
    fn message<M>(message: &M) -> Message<Self>
    where
        Self: Takes<M>,
        M: ?Sized + MessageOf<KindOf<Self>, TiedTo<Self>>,
    {
        Message::new(Self::encode(message).map(Some))
    }

    /// Rows with a message each, to be inserted with one statement.
    fn messages<'m, M>(messages: impl IntoIterator<Item = &'m M>) -> Messages<Self>
    where
        Self: Takes<M>,
        M: 'm + MessageOf<KindOf<Self>, TiedTo<Self>>,
    {
        Messages::new(messages.into_iter().map(Self::encode).collect())
    }

    /// A row of a table without a payload column, to be inserted; its data columns are set by name.
    fn row() -> Message<Self>
    where
        Self: QueueTable<Payload = RowItself>,
    {
        Message::new(Ok(None))
    }
}

/// A queue table on a database that knows the types of its columns.
pub trait TableOn<DB: Backend>: QueueTable<Id: IdOn<DB>> + RowOf<DB> {}

/// The data column at a place among the columns of the row `T`.
#[must_use]
pub const fn at<T: QueueTable, V>(place: usize) -> Field<T, V> {
    Field::new(T::TABLE.columns()[place].name())
}

/// The payload of a table without a payload column: its handlers take the row.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct RowItself;

/// A table whose rows have a group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no group column",
    label = "`{Self}` does not group its rows",
    note = "mark one: `#[queue(group)] kind: String`, or leave `group` away"
)]
#[doc(hidden)]
pub trait Grouped {}

/// A table whose rows have no group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has a group column, and this subscriber does not name its group",
    label = "needs `group = \"..\"`",
    note = "a subscription works on one group: write `#[subscriber({Self}, group = \"..\")]`"
)]
#[doc(hidden)]
pub trait Ungrouped {}

/// A table that counts deliveries.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not count deliveries",
    label = "`{Self}` has no attempt column",
    note = "mark one: `#[queue(attempt)] attempt: i32`"
)]
#[doc(hidden)]
pub trait CountsAttempts {}

/// A table whose rows are leased while they are in work.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no lease column, so there is no lease to set",
    label = "the rows of `{Self}` are locked as long as they are in work",
    note = "leave `lease` away, or mark a column: `#[queue(locked_until)] locked_until: Option<DateTime<Utc>>`"
)]
#[doc(hidden)]
pub trait Leased {}

/// A table that can put rows off.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot delay rows",
    label = "`{Self}` has no retry_after column",
    note = "mark one: `#[queue(retry_after)] retry_after: Option<DateTime<Utc>>`"
)]
#[doc(hidden)]
pub trait Delays {}
