//! What claims of SQLite are made of: the ids that are picked, and the update that takes them.

use super::super::names::TimeName;
use super::super::{ClaimFrom, Names};
use super::suffix;
use crate::descriptor::{Role, TimeForm};

/// How far the lines of a picking SELECT are indented in the claim around it.
pub(super) const INSIDE: &str = "  ";

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
        TimeForm::Native => "''",
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
///
/// No watermark: SQLite does not use an index for a comparison of rows on an expression.
fn behind(table: &Names, from: ClaimFrom) -> Option<Option<String>> {
    Some(match (from, &table.retry_after) {
        (ClaimFrom::Start, _) => None,
        (ClaimFrom::Retries, Some(retry_after)) if retry_after.nullable => {
            Some(format!("{} > {}", due(retry_after, "c"), nothing(retry_after.form)))
        }
        (ClaimFrom::Retries | ClaimFrom::Watermark, _) => return None,
    })
}

/// What holds of a row that is due and free.
fn ready(table: &Names) -> Vec<String> {
    let mut ready = Vec::new();
    if let Some(group) = &table.group {
        ready.push(format!("c.{group} = :group"));
    }
    if let Some(processed_at) = &table.processed_at {
        ready.push(format!("c.{} IS NULL", processed_at.name));
    }
    if let Some(retry_after) = &table.retry_after {
        let now = suffix(retry_after.form);
        ready.push(format!("{} <= :now_{now}", due(retry_after, "c")));
    }
    if let Some(TimeName { name: lease, form, .. }) = &table.locked_until {
        ready.push(format!("(c.{lease} IS NULL OR c.{lease} <= :now_{})", suffix(*form)));
    }
    ready
}

/// The ids of the first rows behind a start that are due and free.
pub(super) fn picked(
    table: &Names,
    from: ClaimFrom,
    more: &[String],
    indent: &str,
) -> Option<String> {
    // SQLite lets a primary key of text be null; such a row would take its place in the limit,
    // and no statement could ever change it.
    let mut all = vec![format!("c.{} IS NOT NULL", table.id)];
    all.extend(ready(table));
    all.extend(behind(table, from)?);
    all.extend_from_slice(more);
    Some(format!(
        "SELECT c.{id}\n{indent}FROM {t} AS c\n{indent}WHERE {ready}\n{indent}ORDER BY {order}\n\
         {indent}LIMIT :limit",
        id = table.id,
        t = table.table,
        ready = all.join(&format!("\n{indent}  AND ")),
        order = order(table, "c"),
    ))
}

/// The id of one row if it is due and free.
pub(super) fn one(table: &Names) -> String {
    let Names { table: t, id, .. } = table;
    let mut all = vec![format!("c.{id} = :id")];
    all.extend(ready(table));
    format!(
        "SELECT c.{id}\n{INSIDE}FROM {t} AS c\n{INSIDE}WHERE {ready}",
        ready = all.join(&format!("\n{INSIDE}  AND ")),
    )
}

/// Takes the rows whose ids are picked; they come in the order of their ids.
pub(super) fn taken(table: &Names, lease: &TimeName, picked: &str) -> String {
    let Names { table: t, id, .. } = table;
    let TimeName { name: lease, form, .. } = lease;
    // The lease before this one is not later than now, so now plus a lease is later than both.
    let mut set = format!("{lease} = :until_{}", suffix(*form));
    let mut returning = Vec::new();
    for (column, role) in &table.columns {
        match (role, &table.attempt) {
            (Role::Attempt, Some(attempt)) => {
                let max = attempt.count.max();
                set.push_str(&format!(
                    ",\n  {column} = CASE WHEN j.{column} < {max} THEN j.{column} + 1 ELSE j.{column} END"
                ));
                // A handler sees the number of this delivery, not of the next one.
                returning.push(format!("{column} - 1 AS {column}"));
            }
            // Unqualified, because SQLite's RETURNING does not know the alias.
            _ => returning.push(column.clone()),
        }
    }
    format!(
        "UPDATE {t} AS j\nSET {set}\nWHERE j.{id} IN (\n  {picked})\nRETURNING {returning}",
        returning = returning.join(", "),
    )
}
