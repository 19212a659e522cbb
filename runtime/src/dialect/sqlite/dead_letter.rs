//! Rows that go to the table of their dead letters.

use super::super::dead_letter::{Kept, kept};
use super::super::names::TimeName;
use super::super::{CopyThenDelete, Many, Names, RowValue, Transaction};
use super::{Owned, Sqlite, deleted, owned, suffix};

/// It has the lock for writing from the start, so that both statements see the same rows.
const TRANSACTION: Transaction =
    Transaction { begin: "BEGIN IMMEDIATE", commit: "COMMIT", rollback: "ROLLBACK" };

/// Copies rows that their deliveries still own, and deletes them.
pub(super) fn moved(table: &Names, lease: &TimeName, dead: &Names) -> CopyThenDelete {
    let Owned { values, columns, .. } = owned(table, lease, &[], &[]);
    CopyThenDelete {
        transaction: TRANSACTION,
        copy: copy(table, lease, dead),
        delete: Sqlite::many("dead_letter_delete", &deleted(table, lease, &columns), &values),
    }
}

// A row that is repeated to fill the statement is there once. The name `u` is known in the inner
// SELECT only: a table can have it too. CROSS JOIN looks each row of `u` up in the table.
fn copy(table: &Names, lease: &TimeName, dead: &Names) -> Many {
    let reason = table.last_error.is_some().then_some((RowValue::Reason, "reason"));
    let Owned { values, columns, condition } = owned(table, lease, &[], reason.as_slice());
    let mut names = Vec::new();
    let mut copied = Vec::new();
    for (name, kept) in kept(table, dead) {
        names.push(name);
        copied.push(match kept {
            Kept::Value => format!("j.{name}"),
            Kept::Reason => format!("coalesce(u.reason, j.{name})"),
            Kept::First => "1".to_owned(),
            Kept::Null => "NULL".to_owned(),
            Kept::Now(due) => format!(":now_{}", suffix(due.form)),
        });
    }
    let sql = format!(
        "INSERT INTO {dead} ({names})\nSELECT {copied}\n\
         FROM (WITH u ({columns}) AS (VALUES :rows) SELECT DISTINCT * FROM u) AS u\n\
         CROSS JOIN {t} AS j\nWHERE j.{id} = u.id AND {condition}\nRETURNING {id}",
        dead = dead.table,
        names = names.join(", "),
        copied = copied.join(", "),
        t = table.table,
        id = table.id,
    );
    Sqlite::many("dead_letter_copy", &sql, &values)
}
