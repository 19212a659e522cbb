//! Rows that go to the table of their dead letters.

use super::super::Names;
use super::super::dead_letter::{Kept, kept};
use super::Postgres;

impl Postgres {
    /// Moves the rows whose ids are in an array, and returns their ids.
    ///
    /// One statement is one commit: what is deleted is there. A trigger of the dead letters can keep
    /// a row out without an error, and then there is one all the same, because the row would be
    /// nowhere. An identity is written like every other column.
    pub(super) fn moved(self, table: &Names, dead: &Names, ids: &str) -> String {
        let (t, id) = (&table.table, &table.id);
        let mut columns = Vec::new();
        let mut deleted = Vec::new();
        let mut inserted = Vec::new();
        for (name, kept) in kept(table, dead) {
            columns.push(name);
            if matches!(kept, Kept::Value | Kept::Reason) {
                deleted.push(format!("j.{name}"));
            }
            inserted.push(match kept {
                Kept::Value => format!("m.{name}"),
                Kept::Reason => {
                    format!("coalesce((:reasons::text[])[array_position(:ids, m.{id})], m.{name})")
                }
                Kept::First => "1".to_owned(),
                Kept::Null => "NULL".to_owned(),
                Kept::Now(due) => self.now(due.form),
            });
        }
        format!(
            "WITH moved AS (\n  DELETE FROM {t} AS j\n  WHERE j.{id} = ANY ({ids})\n  \
             RETURNING {deleted}),\nkept AS (\n  INSERT INTO {dead} ({columns})\n  \
             OVERRIDING SYSTEM VALUE\n  SELECT {inserted}\n  FROM moved AS m\n  RETURNING 1),\n\
             counted AS (\n  SELECT (SELECT count(*) FROM moved) AS moved, \
             (SELECT count(*) FROM kept) AS kept)\n\
             SELECT m.{id}\nFROM moved AS m\nCROSS JOIN counted AS n\n\
             WHERE CASE WHEN n.kept = n.moved THEN true\n  \
             ELSE concat('the table of the dead letters took ', n.kept, ' of ', n.moved, ' rows')\
             ::boolean END",
            deleted = deleted.join(", "),
            dead = dead.table,
            columns = columns.join(", "),
            inserted = inserted.join(", "),
        )
    }
}
