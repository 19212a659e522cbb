//! Rows whose outcome the database refuses for good.

use std::fmt::Debug;

use crate::backend::{Backend, Failure, Fault};
use crate::claim::Subscription;
use crate::dialect::Event;
use crate::telemetry;

/// Whether the failure is about the table of the dead letters as a whole: it is gone, closed to the
/// queue, or full. That says nothing of the rows' own table, and no single row is to blame.
pub(super) fn are_dead_letters<DB: Backend>(
    subscription: &Subscription<DB>,
    event: Option<Event>,
    fault: Fault,
) -> bool {
    event == Some(Event::DeadLetter)
        && subscription.dead_letters.is_some()
        && matches!(fault, Fault::Schema | Fault::Full)
}

/// Tells, once for all of them, that the outcome of some rows is not written.
pub(super) fn tell_refused<DB: Backend, Id: Debug>(
    subscription: &Subscription<DB>,
    event: Option<Event>,
    ids: &[Id],
    failure: &Failure,
) {
    let Some(first) = ids.first() else { return };
    let (table, error) = (subscription.table.name(), &failure.error);
    match &subscription.dead_letters {
        Some(dead) if event == Some(Event::DeadLetter) => {
            telemetry::dead_letter_refused(table, dead.table(), first, ids.len(), error);
        }
        _ => telemetry::settlement_refused(table, first, failure.statement, error),
    }
}
