//! What claims of PostgreSQL are made of: the ids that are picked, and the update that takes them.

use super::super::names::TimeName;
use super::super::{ClaimFrom, Names};
use super::Postgres;
use crate::descriptor::{Count, Role, TimeForm};

/// How far the lines of a picking SELECT are indented in the claim around it.
pub(super) const INSIDE: &str = "    ";

/// The claim's key, exactly as the index has it.
fn due(retry_after: &TimeName, alias: &str) -> String {
    let TimeName { name, form, nullable } = retry_after;
    match nullable {
        true => format!("coalesce({alias}.{name}, {})", nothing(*form)),
        false => format!("{alias}.{name}"),
    }
}

/// What sorts before every time.
const fn nothing(form: TimeForm) -> &'static str {
    match form {
        TimeForm::Native => "'-infinity'",
        TimeForm::Micros => "0",
    }
}

fn order(table: &Names, alias: &str) -> String {
    let id = &table.id;
    match &table.retry_after {
        Some(retry_after) => format!("{}, {alias}.{id}", due(retry_after, alias)),
        None => format!("{alias}.{id}"),
    }
}

/// What holds of the rows behind a start; `None` where the start is of no use.
fn behind(table: &Names, from: ClaimFrom) -> Option<Option<String>> {
    let id = &table.id;
    Some(match (from, &table.retry_after) {
        (ClaimFrom::Start, _) => None,
        (ClaimFrom::Watermark, None) => Some(format!("c.{id} > :after_id")),
        (ClaimFrom::Watermark, Some(retry_after)) => {
            let marker = match retry_after.form {
                TimeForm::Native => ":after_native::timestamptz",
                TimeForm::Micros => ":after_micros::bigint",
            };
            let (key, nothing) = (due(retry_after, "c"), nothing(retry_after.form));
            Some(format!("({key}, c.{id}) > (coalesce({marker}, {nothing}), :after_id)"))
        }
        (ClaimFrom::Retries, Some(retry_after)) if retry_after.nullable => {
            Some(format!("{} > {}", due(retry_after, "c"), nothing(retry_after.form)))
        }
        (ClaimFrom::Retries, _) => return None,
    })
}

const fn integer(count: Count) -> &'static str {
    match count {
        Count::I8 | Count::U8 | Count::I16 => "smallint",
        Count::U16 | Count::I32 => "integer",
        Count::U32 | Count::I64 => "bigint",
    }
}

impl Postgres {
    /// What holds of a row that is due and free.
    fn ready(self, table: &Names) -> Vec<String> {
        let mut ready = Vec::new();
        if let Some(group) = &table.group {
            ready.push(format!("c.{group} = :group"));
        }
        if let Some(processed_at) = &table.processed_at {
            ready.push(format!("c.{} IS NULL", processed_at.name));
        }
        if let Some(retry_after) = &table.retry_after {
            let at_start = self.at_start(retry_after.form);
            ready.push(format!("{} <= {at_start}", due(retry_after, "c")));
        }
        if let Some(TimeName { name, form, .. }) = &table.locked_until {
            let at_start = self.at_start(*form);
            ready.push(format!("(c.{name} IS NULL OR c.{name} <= {at_start})"));
        }
        ready
    }

    /// Columns of the first rows behind a start that are due and free, locked.
    pub(super) fn picked(
        self,
        table: &Names,
        columns: &str,
        from: ClaimFrom,
        more: &[String],
        indent: &str,
    ) -> Option<String> {
        let mut ready = self.ready(table);
        ready.extend(behind(table, from)?);
        ready.extend_from_slice(more);
        let condition = match ready.is_empty() {
            // Every row of the table is due, and free if it is not locked.
            true => String::new(),
            false => format!("\n{indent}WHERE {}", ready.join(&format!("\n{indent}  AND "))),
        };
        Some(format!(
            "SELECT {columns}\n{indent}FROM {t} AS c{condition}\n\
             {indent}ORDER BY {order}\n{indent}LIMIT :limit\n{indent}FOR NO KEY UPDATE SKIP LOCKED",
            t = table.table,
            order = order(table, "c"),
        ))
    }

    /// The id of one row if it is due and free, locked.
    ///
    /// The limit keeps the subquery from being made a part of the outer one: on an empty table a plan
    /// would look the id up in the index of the claims, which has the id too.
    pub(super) fn one(self, table: &Names) -> String {
        let Names { table: t, id, locked_until, .. } = table;
        let mut read = vec![format!("r.{id}")];
        read.extend(table.group.as_ref().map(|group| format!("r.{group}")));
        read.extend(table.processed_at.as_ref().map(|at| format!("r.{}", at.name)));
        read.extend(table.retry_after.as_ref().map(|at| format!("r.{}", at.name)));
        read.extend(locked_until.as_ref().map(|at| format!("r.{}", at.name)));
        format!(
            "SELECT c.{id}\n    FROM (\n      SELECT {read}\n      FROM {t} AS r\n      \
             WHERE r.{id} = :id\n      LIMIT 1\n      FOR NO KEY UPDATE SKIP LOCKED) AS c\n    \
             WHERE {ready}",
            read = read.join(", "),
            ready = self.ready(table).join("\n      AND "),
        )
    }

    /// Takes the rows whose ids are picked, and returns them in the claim's order.
    ///
    /// The ids are an array made once (an `InitPlan`), because a locking subquery under `IN` can be
    /// run again for each outer row and then claims more than its limit. The outer SELECT puts the
    /// rows into the claim's order, which RETURNING does not promise.
    pub(super) fn taken(self, table: &Names, lease: &TimeName, picked: &str) -> String {
        let id = &table.id;
        let mut set = format!("{} = {}", lease.name, self.lease(lease));
        let mut returning = Vec::new();
        for (column, role) in &table.columns {
            match (role, &table.attempt) {
                (Role::Attempt, Some(attempt)) => {
                    let (max, ty) = (attempt.count.max(), integer(attempt.count));
                    set.push_str(&format!(
                        ",\n    {column} = CASE WHEN j.{column} < {max} THEN j.{column} + 1 ELSE j.{column} END"
                    ));
                    // A handler sees the number of this delivery, not of the next one.
                    returning.push(format!("(j.{column} - 1)::{ty} AS {column}"));
                }
                _ => returning.push(format!("j.{column}")),
            }
        }
        let columns: Vec<_> = table.columns.iter().map(|(c, _)| format!("w.{c}")).collect();
        format!(
            "WITH w AS (\n  UPDATE {t} AS j\n  SET {set}\n  WHERE j.{id} = ANY (ARRAY (\n    \
             {picked}))\n  RETURNING {returning})\nSELECT {columns}\nFROM w\nORDER BY {outer}",
            t = table.table,
            returning = returning.join(", "),
            columns = columns.join(", "),
            outer = order(table, "w"),
        )
    }
}
