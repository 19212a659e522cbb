//! A row as it stands in the table of the dead letters.

use super::Names;
use super::names::TimeName;
use crate::descriptor::Role;

/// What a dead letter has in a column of its row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kept<'a> {
    /// What the row had.
    Value,
    /// The reason, or what the row had if there is none.
    Reason,
    /// 1: it has n deliveries of its own.
    First,
    /// Nothing: it can be claimed at once.
    Null,
    /// Now, where nothing is not allowed.
    Now(&'a TimeName),
}

/// Every column of a row, and what its dead letter has there.
///
/// The columns are those that the row's own declaration names; whether a delay can be null is said by
/// the declaration of the dead letters.
pub(super) fn kept<'a>(
    table: &'a Names,
    dead: &'a Names,
) -> impl Iterator<Item = (&'a str, Kept<'a>)> {
    table.columns.iter().map(|(name, role)| {
        let kept = match role {
            Role::Attempt => Kept::First,
            Role::LockedUntil | Role::ProcessedAt => Kept::Null,
            Role::RetryAfter => due(table, dead),
            Role::LastError => Kept::Reason,
            Role::Id | Role::Group | Role::Payload | Role::Data => Kept::Value,
        };
        (name.as_str(), kept)
    })
}

fn due<'a>(table: &'a Names, dead: &'a Names) -> Kept<'a> {
    let Some(own) = &table.retry_after else { return Kept::Null };
    let same = dead.retry_after.as_ref().filter(|there| there.name == own.name);
    match same.unwrap_or(own) {
        TimeName { nullable: true, .. } => Kept::Null,
        due => Kept::Now(due),
    }
}
