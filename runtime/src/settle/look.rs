//! Looking up rows whose last statement gave no answer, or left them out.

use crate::backend::{Backend, Failure, Urgency, bind_many};
use crate::claim::{Batch, Subscription};
use crate::handler::TableOn;

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
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

/// Reads what the database has for each row of a batch, in its order.
pub(crate) async fn look<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
    batch: &Batch<T::Id>,
    urgency: Urgency,
) -> Result<Vec<Found>, Failure> {
    let look = &subscription.statements.look;
    let query = bind_many(look, &subscription.values(), batch.keys.len(), &batch.rows)?;
    let rows = subscription.connections.rows(urgency, query).await?;
    let mut found = vec![Found::Gone { in_force: false }; batch.keys.len()];
    let mut read = |row: &DB::Row| {
        let in_force = DB::int(row, 2)? == 1;
        let state = match DB::int(row, 1)? {
            0 => Found::Gone { in_force },
            1 => Found::Owned,
            // A lease that cannot be read is somebody else's; it must not cost the other rows theirs.
            _ => {
                let current = DB::time(row, 3, subscription.form).ok().flatten();
                Found::Other { current, in_force }
            }
        };
        let at = usize::try_from(DB::int(row, 0)?).unwrap_or(usize::MAX);
        if let Some(found) = found.get_mut(at) {
            *found = state;
        }
        Ok(())
    };
    rows.iter().try_for_each(&mut read).map_err(|error| Failure::new::<DB>("look", error))?;
    Ok(found)
}
