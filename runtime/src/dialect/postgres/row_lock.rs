//! Statements on rows that their own transaction has locked.

use super::super::{Event, Names};
use super::Postgres;

/// Every column, read by a claim.
pub(super) fn columns(table: &Names) -> String {
    let columns: Vec<_> = table.columns.iter().map(|(column, _)| format!("c.{column}")).collect();
    columns.join(", ")
}

impl Postgres {
    /// Writes an event to locked rows, and returns their ids. `None` where there is nothing to write,
    /// because the end of the transaction returns the rows, or no column for it.
    pub(super) fn ended(self, table: &Names, event: Event) -> Option<String> {
        let Names { table: t, id, .. } = table;
        let mut set = self.changes(table, event)?;
        let change = match event {
            Event::Ack if set.is_empty() => format!("DELETE FROM {t} AS j"),
            // What was not worked on is as it was.
            Event::GiveBack | Event::Release => return None,
            _ => {
                // A delivery is counted where it ends, because the claim writes nothing.
                if let (Event::Retry | Event::RetryAfter, Some(attempt)) = (event, &table.attempt) {
                    let (name, max) = (&attempt.name, attempt.count.max());
                    set.push(format!(
                        "{name} = CASE WHEN j.{name} < {max} THEN j.{name} + 1 ELSE j.{name} END"
                    ));
                }
                if set.is_empty() {
                    return None;
                }
                format!("UPDATE {t} AS j\nSET {}", set.join(",\n  "))
            }
        };
        Some(format!("{change}\nWHERE j.{id} = ANY (:ids)\nRETURNING j.{id}"))
    }
}
