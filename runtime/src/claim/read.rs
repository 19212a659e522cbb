//! What the queue must know of a claimed row.

use crate::backend::{Backend, IdOn};
use crate::descriptor::{Column, Form, Role};
use crate::handler::{QueueTable, TableOn};

/// What the queue must know of a claimed row.
pub(super) struct Read<Id> {
    pub(super) id: Id,
    /// What the claim wrote to the lease.
    pub(super) token: Option<i64>,
    /// The number of this delivery.
    pub(super) attempt: i64,
    /// From when on the row was due: its place in the claim's order, with the id.
    pub(super) due: Option<i64>,
}

/// Reads what the queue must know of a claimed row.
pub(super) fn read<DB: Backend, T: TableOn<DB>>(
    row: &DB::Row,
) -> sqlx::Result<Read<<T as QueueTable>::Id>> {
    let (mut id, mut token, mut attempt, mut due) = (None, None, 1, None);
    for (at, column) in T::TABLE.columns().iter().enumerate() {
        match (column.role(), column.form()) {
            (Role::Id, _) => id = Some(T::Id::read(row, at)?),
            (Role::LockedUntil, Form::Time { form, .. }) => token = DB::time(row, at, form)?,
            // Only the order depends on it; a time that cannot be read must not cost the row.
            (Role::RetryAfter, Form::Time { form, .. }) => {
                due = DB::time(row, at, form).ok().flatten();
            }
            (Role::Attempt, Form::Count(count)) => attempt = DB::count(row, at, count)?,
            _ => {}
        }
    }
    let id = id.ok_or_else(|| missing::<T>(Role::Id))?;
    Ok(Read { id, token, attempt, due })
}

/// The error of a row without a value that a claim writes.
pub(super) fn missing<T: QueueTable>(role: Role) -> sqlx::Error {
    sqlx::Error::ColumnNotFound(T::TABLE.column(role).map_or("", Column::name).to_owned())
}
