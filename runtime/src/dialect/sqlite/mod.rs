//! SQLite 3.35 and later.
//!
//! A SQLite file is on this host, so its clock is the host's: every time is bound, and one
//! statement compares and writes the same now.

mod claim;
mod dead_letter;

use super::names::TimeName;
use super::statement::Placeholders;
use super::{
    ClaimFrom, Dialect, Event, Insert, MAX_LEFT_OUT, Many, Names, Plan, RowValue, Statement,
};
use crate::descriptor::TimeForm;
use claim::{INSIDE, one, picked, taken};

/// The statements of SQLite.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sqlite;

/// The most rows of a settlement.
const MAX_ROWS: usize = 512;

/// The most values that SQLite binds to one statement (SQLITE_MAX_VARIABLE_NUMBER).
const MAX_VALUES: usize = 32_766;

/// Room for the values of an insert that are the same for all rows.
const MAX_SCALARS: usize = 64;

/// How a marker names a form: `:now_native`, `:due_micros`.
const fn suffix(form: TimeForm) -> &'static str {
    match form {
        TimeForm::Native => "native",
        TimeForm::Micros => "micros",
    }
}

/// The rows of a statement over many, and the condition that their deliveries still own them.
struct Owned {
    values: Vec<RowValue>,
    columns: String,
    condition: String,
}

fn owned(
    table: &Names,
    lease: &TimeName,
    first: &[(RowValue, &str)],
    more: &[(RowValue, &str)],
) -> Owned {
    let mut all = first.to_vec();
    all.extend([(RowValue::Id, "id"), (RowValue::Token, "token")]);
    let mut condition = format!("j.{} = u.token", lease.name);
    if let Some(attempt) = &table.attempt {
        all.push((RowValue::Attempt, "attempt"));
        condition.push_str(&format!(" AND j.{} = u.attempt", attempt.name));
    }
    all.extend(more);
    Owned {
        values: all.iter().map(|(value, _)| *value).collect(),
        columns: all.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", "),
        condition,
    }
}

impl Sqlite {
    fn statement(name: &'static str, sql: &str) -> Statement {
        Statement::parse(name, sql, Placeholders::Positional, &[], 0)
    }

    fn many(name: &'static str, sql: &str, row: &[RowValue]) -> Many {
        Self::padded(name, sql, row, MAX_ROWS)
    }

    /// A text for each power of two up to `most`, which is one.
    fn padded(name: &'static str, sql: &str, row: &[RowValue], most: usize) -> Many {
        let sizes = (0..=most.ilog2()).map(|log2| 1 << log2);
        let parse = |rows| Statement::parse(name, sql, Placeholders::Positional, row, rows);
        Many::Padded(sizes.map(parse).collect())
    }
}

impl Dialect for Sqlite {
    const ORDERED_CLAIMS: bool = false;
    const CATALOG_PARSES_NAMES: bool = false;

    fn same_name(catalog: &str, declared: &str) -> bool {
        catalog.eq_ignore_ascii_case(declared)
    }

    fn claim(&self, table: &Names, from: ClaimFrom) -> Option<Statement> {
        let picked = picked(table, from, &[], INSIDE)?;
        Some(Self::statement(from.claim(), &taken(table, table.locked_until.as_ref()?, &picked)))
    }

    fn claim_except(&self, table: &Names, from: ClaimFrom) -> Option<Many> {
        let others = format!("c.{} NOT IN (VALUES :rows)", table.id);
        let picked = picked(table, from, &[others], INSIDE)?;
        let sql = taken(table, table.locked_until.as_ref()?, &picked);
        Some(Self::padded(from.claim_except(), &sql, &[RowValue::Id], MAX_LEFT_OUT))
    }

    fn claim_one(&self, table: &Names) -> Option<Statement> {
        let lease = table.locked_until.as_ref()?;
        Some(Self::statement("claim_one", &taken(table, lease, &one(table))))
    }

    fn first(&self, table: &Names, from: ClaimFrom) -> Option<Statement> {
        Some(Self::statement(from.first(), &picked(table, from, &[], "")?))
    }

    // The ids are asked for twice: with statistics from when the table was nearly empty, SQLite would
    // otherwise read all of `u` for each row of the table.
    fn settle(&self, table: &Names, event: Event) -> Option<Many> {
        let Names { table: t, id, .. } = table;
        let locked_until = table.locked_until.as_ref()?;
        let lease = &locked_until.name;
        let mut more = Vec::new();
        let mut set = vec![format!("{lease} = NULL")];
        let reason = |set: &mut Vec<String>, more: &mut Vec<_>| {
            if let Some(column) = &table.last_error {
                more.push((RowValue::Reason, "reason"));
                set.push(format!("{column} = coalesce(u.reason, j.{column})"));
            }
        };
        match event {
            Event::Ack => match &table.processed_at {
                Some(at) => set.push(format!("{} = :now_{}", at.name, suffix(at.form))),
                None => set.clear(),
            },
            Event::Retry => reason(&mut set, &mut more),
            Event::RetryAfter => {
                let retry_after = table.retry_after.as_ref()?;
                more.push((RowValue::Due(retry_after.form), "due"));
                set.push(format!("{} = u.due", retry_after.name));
                reason(&mut set, &mut more);
            }
            Event::DeadLetter => {
                set.push(format!("{} = :dead_letter", table.group.as_ref()?));
                if let Some(attempt) = &table.attempt {
                    set.push(format!("{} = 1", attempt.name));
                }
                if let Some(TimeName { name, form, nullable }) = &table.retry_after {
                    let due = match nullable {
                        true => "NULL".to_owned(),
                        false => format!(":now_{}", suffix(*form)),
                    };
                    set.push(format!("{name} = {due}"));
                }
                reason(&mut set, &mut more);
            }
            Event::GiveBack | Event::Release => {
                // Not null: a later claim must write a later token than this delivery had.
                set = vec![format!("{lease} = :now_{}", suffix(locked_until.form))];
                let counted = table.attempt.as_ref().filter(|_| event == Event::GiveBack);
                set.extend(counted.map(|attempt| format!("{0} = j.{0} - 1", attempt.name)));
            }
        }
        let Owned { values, columns, condition } = owned(table, locked_until, &[], &more);
        let sql = if set.is_empty() {
            deleted(table, locked_until, &columns)
        } else {
            format!(
                "WITH u ({columns}) AS (VALUES :rows)\nUPDATE {t} AS j\nSET {set}\nFROM u\n\
                 WHERE j.{id} = u.id AND {condition}\n  AND j.{id} IN (SELECT id FROM u)\n\
                 RETURNING {id}",
                set = set.join(",\n  "),
            )
        };
        Some(Self::many(event.name(), &sql, &values))
    }

    // Two statements, because SQLite has no statement that deletes and inserts.
    fn settle_into(&self, table: &Names, dead: &Names) -> Option<Plan> {
        Some(Plan::CopyThenDelete(dead_letter::moved(table, table.locked_until.as_ref()?, dead)))
    }

    // One tick more than the old lease, even if the clock went back; a text cannot be added to in
    // SQL, so that tick is bound beside the token.
    fn renew(&self, table: &Names) -> Option<Many> {
        let Names { table: t, id, .. } = table;
        let lease = table.locked_until.as_ref()?;
        let TimeName { name, form, .. } = lease;
        let Owned { values, columns, condition } =
            owned(table, lease, &[], &[(RowValue::NextToken, "next")]);
        let form = suffix(*form);
        let sql = format!(
            "WITH u ({columns}) AS (VALUES :rows)\nUPDATE {t} AS j\n\
             SET {name} = max(:until_{form}, u.next)\nFROM u\n\
             WHERE j.{id} = u.id AND {condition}\n  AND j.{id} IN (SELECT id FROM u)\n\
             RETURNING {id}, {name}"
        );
        Some(Self::many("renew", &sql, &values))
    }

    // The name `u` is known in the inner SELECT only: a table can have it too.
    fn look(&self, table: &Names) -> Option<Many> {
        let Names { table: t, id, .. } = table;
        let locked_until = table.locked_until.as_ref()?;
        let TimeName { name: lease, form, .. } = locked_until;
        let Owned { values, columns, condition } =
            owned(table, locked_until, &[(RowValue::Ordinal, "n")], &[]);
        let processed = match &table.processed_at {
            Some(at) => format!(" OR j.{} IS NOT NULL", at.name),
            None => String::new(),
        };
        let form = suffix(*form);
        let sql = format!(
            "SELECT u.n,\n  CASE WHEN j.{id} IS NULL{processed} \
             THEN 0 WHEN {condition} THEN 1 ELSE 2 END,\n  \
             CASE WHEN :now_{form} < u.token THEN 1 ELSE 0 END,\n  j.{lease}\n\
             FROM (WITH u ({columns}) AS (VALUES :rows) SELECT * FROM u) AS u\n\
             LEFT JOIN {t} AS j ON j.{id} = u.id"
        );
        Some(Self::many("look", &sql, &values))
    }

    // A transaction that writes keeps every other writer of the file out, so that a row cannot be
    // locked for as long as a handler works on it.
    fn lock(&self, _table: &Names, _from: ClaimFrom) -> Option<Statement> {
        None
    }

    fn lock_except(&self, _table: &Names, _from: ClaimFrom) -> Option<Many> {
        None
    }

    fn end(&self, _table: &Names, _event: Event) -> Option<Many> {
        None
    }

    fn end_into(&self, _table: &Names, _dead: &Names) -> Option<Many> {
        None
    }

    fn columns(&self, table: &Names) -> Statement {
        let sql = match table.has_schema {
            true => "SELECT p.name FROM pragma_table_xinfo(:table, :schema) AS p",
            false => "SELECT p.name FROM pragma_table_xinfo(:table) AS p",
        };
        Self::statement("columns", sql)
    }

    fn insert(&self, table: &Names, insert: &Insert) -> Statement {
        let (columns, values) = inserted(table, insert, false);
        let sql = format!(
            "INSERT INTO {t} ({columns})\nVALUES ({values})\nRETURNING {id}",
            t = table.table,
            id = table.id,
        );
        Self::statement("insert", &sql)
    }

    // The last row is repeated until a text fits; the limit leaves the repetitions out.
    fn insert_many(
        &self,
        table: &Names,
        insert: &Insert,
        rows: usize,
    ) -> Option<(Statement, usize)> {
        let mut row = Vec::new();
        let mut names = Vec::new();
        if insert.id {
            row.push(RowValue::Id);
            names.push("id".to_owned());
        }
        if insert.payload {
            row.push(RowValue::Payload);
            names.push("payload".to_owned());
        }
        for (n, (_, each)) in insert.data.iter().enumerate() {
            if *each {
                row.push(RowValue::Data(n));
                names.push(format!("each{n}"));
            }
        }
        let (columns, values) = inserted(table, insert, true);
        let sql = format!(
            "WITH u ({names}) AS (VALUES :rows)\nINSERT INTO {t} ({columns})\nSELECT {values}\n\
             FROM u\nLIMIT :limit\nRETURNING {id}",
            names = names.join(", "),
            t = table.table,
            id = table.id,
        );
        let padded = rows.next_power_of_two();
        let fits = |rows: &usize| rows * row.len() <= MAX_VALUES - MAX_SCALARS;
        let bound = [padded, rows].into_iter().find(fits)?;
        let style = Placeholders::Positional;
        Some((Statement::parse("insert_many", &sql, style, &row, bound), bound))
    }
}

/// Deletes rows that their deliveries still own; `columns` are the values of each row.
fn deleted(table: &Names, lease: &TimeName, columns: &str) -> String {
    let (Names { table: t, id, .. }, lease) = (table, &lease.name);
    // A row value, because DELETE has no FROM; SQLite still searches by the key.
    let key = match &table.attempt {
        Some(attempt) => format!("j.{id}, j.{lease}, j.{}", attempt.name),
        None => format!("j.{id}, j.{lease}"),
    };
    format!(
        "WITH u ({columns}) AS (VALUES :rows)\nDELETE FROM {t} AS j\n\
         WHERE ({key}) IN (SELECT {columns} FROM u)\nRETURNING {id}"
    )
}

fn inserted(table: &Names, insert: &Insert, many: bool) -> (String, String) {
    let mut columns = Vec::new();
    let mut values = Vec::new();
    let mut add = |column: &str, value: String| {
        columns.push(column.to_owned());
        values.push(value);
    };
    if insert.id {
        add(&table.id, if many { "u.id" } else { ":id" }.to_owned());
    }
    if let (true, Some(group)) = (insert.group, &table.group) {
        add(group, ":group".to_owned());
    }
    if let Some(attempt) = &table.attempt {
        add(&attempt.name, "1".to_owned());
    }
    if let (true, Some(TimeName { name, form, .. })) = (insert.delay, &table.retry_after) {
        add(name, format!(":due_{}", suffix(*form)));
    }
    if let (true, Some(payload)) = (insert.payload, &table.payload) {
        add(payload, if many { "u.payload" } else { ":payload" }.to_owned());
    }
    for (n, (name, each)) in insert.data.iter().enumerate() {
        add(&Names::data(name), if *each { format!("u.each{n}") } else { format!(":data{n}") });
    }
    (columns.join(", "), values.join(", "))
}
