//! Looking up rows whose last statement gave no answer, or left them out.

use crate::backend::{Backend, Failure, Fault, Urgency, bind_many};
use crate::claim::{Backoff, Batch, Leases};
use crate::descriptor::TimeForm;
use crate::handler::TableOn;

/// What the database has of a delivery's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is deleted, or processed.
    Gone {
        /// The delivery's lease has not ended, so nobody else can have done it.
        in_force: bool,
    },
    /// The delivery still owns it.
    Owned,
    /// It has another lease, or none.
    Other {
        /// The lease that it has.
        current: Option<i64>,
        /// The delivery's lease has not ended, so nobody else can have claimed it.
        in_force: bool,
    },
}

impl Found {
    /// Reads a row of a look-up's answer: which row of the batch it is of, and what was found.
    ///
    /// # Errors
    ///
    /// A column that is not what the statement returns.
    pub fn read<DB: Backend>(row: &DB::Row, form: TimeForm) -> sqlx::Result<(usize, Self)> {
        let in_force = DB::int(row, 2)? == 1;
        let found = match DB::int(row, 1)? {
            0 => Self::Gone { in_force },
            1 => Self::Owned,
            // A lease that cannot be read is somebody else's; it must not cost the other rows theirs.
            _ => Self::Other { current: DB::time(row, 3, form).ok().flatten(), in_force },
        };
        Ok((usize::try_from(DB::int(row, 0)?).unwrap_or(usize::MAX), found))
    }
}

/// Looks until the database answers. `None`: the subscription is over, or no repetition can help.
pub(crate) async fn look_up<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
    urgency: Urgency,
) -> Option<Vec<Found>> {
    let mut backoff = Backoff::default();
    loop {
        match look(leases, batch, urgency).await {
            Ok(found) => return Some(found),
            Err(failure) => {
                if leases.subscription.failed(failure) == Fault::Schema
                    || leases.subscription.pause_or_end(backoff.pause()).await
                {
                    return None;
                }
            }
        }
    }
}

/// Reads what the database has for each row of a batch, in its order.
async fn look<DB: Backend, T: TableOn<DB>>(
    leases: &Leases<DB, T>,
    batch: &Batch<T::Id>,
    urgency: Urgency,
) -> Result<Vec<Found>, Failure> {
    let look = &leases.statements.look;
    let query =
        bind_many(look, &leases.subscription.values::<T::Id>(), batch.keys.len(), &batch.rows)?;
    let rows = leases.subscription.connections.rows(urgency, query).await?;
    let mut found = vec![Found::Gone { in_force: false }; batch.keys.len()];
    for row in &rows {
        let read = Found::read::<DB>(row, leases.form);
        let (at, state) = read.map_err(|error| Failure::new::<DB>("look", error))?;
        if let Some(found) = found.get_mut(at) {
            *found = state;
        }
    }
    Ok(found)
}
