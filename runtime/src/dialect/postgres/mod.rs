//! PostgreSQL 14 and later.

mod claim;
mod dead_letter;
mod row_lock;

use super::names::TimeName;
use super::statement::Placeholders;
use super::{ClaimFrom, Clock, Dialect, Event, Insert, Many, Names, Plan, Statement};
use crate::descriptor::TimeForm;
use claim::INSIDE;

/// The statements of PostgreSQL.
///
/// Conditions are compared with `statement_timestamp()`, which an index can use; what is written
/// comes from `clock_timestamp()`, because a statement may have waited for a lock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Postgres {
    /// Whose clock is asked.
    pub clock: Clock,
}

impl Postgres {
    fn time(self, form: TimeForm, function: &str) -> String {
        let now = match self.clock {
            Clock::Database => format!("{function}()"),
            Clock::Shifted => format!("({function}() + :shift::bigint * interval '1 microsecond')"),
        };
        match form {
            TimeForm::Native => now,
            TimeForm::Micros => format!("(extract(epoch FROM {now}) * 1000000)::bigint"),
        }
    }

    fn at_start(self, form: TimeForm) -> String {
        self.time(form, "statement_timestamp")
    }

    fn now(self, form: TimeForm) -> String {
        self.time(form, "clock_timestamp")
    }

    /// Now plus a number of microseconds.
    fn later(self, form: TimeForm, micros: &str) -> String {
        let now = self.now(form);
        match form {
            TimeForm::Native => format!("{now} + {micros} * interval '1 microsecond'"),
            TimeForm::Micros => format!("{now} + {micros}"),
        }
    }

    /// A lease that is later than the one before it, even if the clock went back.
    fn lease(self, lease: &TimeName) -> String {
        let TimeName { name, form, .. } = lease;
        let tick = match form {
            TimeForm::Native => "interval '1 microsecond'",
            TimeForm::Micros => "1",
        };
        let until = self.later(*form, ":lease::bigint");
        format!("greatest({until}, j.{name} + {tick})")
    }

    fn statement(name: &'static str, sql: &str) -> Statement {
        Statement::parse(name, sql, Placeholders::Numbered, &[], 0)
    }

    fn many(name: &'static str, sql: &str) -> Many {
        Many::Arrays(Self::statement(name, sql))
    }
}

/// The deliveries of a statement over many rows, and the condition that they still own theirs.
struct Owned {
    /// `unnest(..)`, one array a value.
    arrays: String,
    /// The names of its columns.
    columns: &'static str,
    condition: String,
}

fn owned(table: &Names, lease: &TimeName) -> Owned {
    let array = match lease.form {
        TimeForm::Native => "timestamptz[]",
        TimeForm::Micros => "bigint[]",
    };
    let lease = &lease.name;
    match &table.attempt {
        Some(attempt) => Owned {
            arrays: format!("unnest(:ids, :tokens::{array}, :attempts::bigint[])"),
            columns: "id, token, attempt",
            condition: format!("c.{lease} = u.token AND c.{} = u.attempt", attempt.name),
        },
        None => Owned {
            arrays: format!("unnest(:ids, :tokens::{array})"),
            columns: "id, token",
            condition: format!("c.{lease} = u.token"),
        },
    }
}

/// The ids of the rows that their deliveries still own, locked with `strength`.
///
/// A locking subquery under LATERAL is never made a join, so the few ids always drive the plan: a
/// plan that the server kept from when the table was empty would otherwise read all of it. A row
/// that another session holds is left out, so that it cannot hold up the others.
fn owned_ids(table: &Names, lease: &TimeName, strength: &str) -> String {
    let Names { table: t, id, .. } = table;
    let Owned { arrays, columns, condition } = owned(table, lease);
    format!(
        "ARRAY (\n  SELECT x.id\n  FROM {arrays} AS u({columns})\n  CROSS JOIN LATERAL (\n    \
         SELECT c.{id} AS id\n    FROM {t} AS c\n    WHERE c.{id} = u.id AND {condition}\n    \
         FOR {strength} SKIP LOCKED) AS x)"
    )
}

impl Dialect for Postgres {
    const ORDERED_CLAIMS: bool = true;
    const CATALOG_PARSES_NAMES: bool = true;

    fn same_name(catalog: &str, declared: &str) -> bool {
        catalog == declared
    }

    fn claim(&self, table: &Names, from: ClaimFrom) -> Option<Statement> {
        let lease = table.locked_until.as_ref()?;
        let picked = self.picked(table, &id(table), from, &[], INSIDE)?;
        Some(Self::statement(from.claim(), &self.taken(table, lease, &picked)))
    }

    fn claim_except(&self, table: &Names, from: ClaimFrom) -> Option<Many> {
        let lease = table.locked_until.as_ref()?;
        let picked = self.picked(table, &id(table), from, &[others(table)], INSIDE)?;
        Some(Self::many(from.claim_except(), &self.taken(table, lease, &picked)))
    }

    fn claim_one(&self, table: &Names) -> Option<Statement> {
        let lease = table.locked_until.as_ref()?;
        Some(Self::statement("claim_one", &self.taken(table, lease, &self.one(table))))
    }

    fn first(&self, table: &Names, from: ClaimFrom) -> Option<Statement> {
        Some(Self::statement(from.first(), &self.picked(table, &id(table), from, &[], "")?))
    }

    fn settle(&self, table: &Names, event: Event) -> Option<Many> {
        let Names { table: t, id, .. } = table;
        let lease = table.locked_until.as_ref()?;
        let mut set = self.changes(table, event)?;
        match event {
            Event::Ack if set.is_empty() => {}
            Event::GiveBack | Event::Release => {
                // Not null: a later claim must write a later token than this delivery had.
                set.insert(0, format!("{} = {}", lease.name, self.now(lease.form)));
            }
            _ => set.insert(0, format!("{} = NULL", lease.name)),
        }
        let (change, strength) = match set.is_empty() {
            true => (format!("DELETE FROM {t} AS j"), "UPDATE"),
            false => (format!("UPDATE {t} AS j\nSET {}", set.join(",\n  ")), "NO KEY UPDATE"),
        };
        let ids = owned_ids(table, lease, strength);
        let sql = format!("{change}\nWHERE j.{id} = ANY ({ids})\nRETURNING j.{id}");
        Some(Self::many(event.name(), &sql))
    }

    fn settle_into(&self, table: &Names, dead: &Names) -> Option<Plan> {
        let ids = owned_ids(table, table.locked_until.as_ref()?, "UPDATE");
        let sql = self.moved(table, dead, &ids);
        Some(Plan::One(Self::many(Event::DeadLetter.name(), &sql)))
    }

    fn renew(&self, table: &Names) -> Option<Many> {
        let Names { table: t, id, .. } = table;
        let locked_until = table.locked_until.as_ref()?;
        let lease = self.lease(locked_until);
        let name = &locked_until.name;
        let ids = owned_ids(table, locked_until, "NO KEY UPDATE");
        let sql = format!(
            "UPDATE {t} AS j\nSET {name} = {lease}\nWHERE j.{id} = ANY ({ids})\n\
             RETURNING j.{id}, j.{name}"
        );
        Some(Self::many("renew", &sql))
    }

    fn look(&self, table: &Names) -> Option<Many> {
        let Names { table: t, id, .. } = table;
        let locked_until = table.locked_until.as_ref()?;
        let Owned { arrays, columns, condition } = owned(table, locked_until);
        let processed = match &table.processed_at {
            Some(at) => format!(" OR c.{} IS NOT NULL", at.name),
            None => String::new(),
        };
        let mut read = vec![format!("r.{id}"), format!("r.{}", locked_until.name)];
        read.extend(table.attempt.as_ref().map(|attempt| format!("r.{}", attempt.name)));
        read.extend(table.processed_at.as_ref().map(|at| format!("r.{}", at.name)));
        // The limit keeps the subquery from being made a join.
        let sql = format!(
            "SELECT u.n - 1,\n  CASE WHEN c.{id} IS NULL{processed} THEN 0 WHEN {condition} THEN 1 \
             ELSE 2 END::bigint,\n  CASE WHEN {now} < u.token THEN 1 ELSE 0 END::bigint,\n  \
             c.{lease}\nFROM {arrays} WITH ORDINALITY AS u({columns}, n)\n\
             LEFT JOIN LATERAL (\n  SELECT {read}\n  FROM {t} AS r\n  WHERE r.{id} = u.id\n  \
             LIMIT 1) AS c ON true",
            read = read.join(", "),
            now = self.at_start(locked_until.form),
            lease = locked_until.name,
        );
        Some(Self::many("look", &sql))
    }

    fn lock(&self, table: &Names, from: ClaimFrom) -> Option<Statement> {
        let columns = row_lock::columns(table);
        Some(Self::statement(from.claim(), &self.picked(table, &columns, from, &[], "")?))
    }

    fn lock_except(&self, table: &Names, from: ClaimFrom) -> Option<Many> {
        let columns = row_lock::columns(table);
        let sql = self.picked(table, &columns, from, &[others(table)], "")?;
        Some(Self::many(from.claim_except(), &sql))
    }

    fn end(&self, table: &Names, event: Event) -> Option<Many> {
        self.ended(table, event).map(|sql| Self::many(event.name(), &sql))
    }

    fn end_into(&self, table: &Names, dead: &Names) -> Option<Many> {
        Some(Self::many(Event::DeadLetter.name(), &self.moved(table, dead, ":ids")))
    }

    fn columns(&self, _table: &Names) -> Statement {
        let sql = "SELECT a.attname::text\nFROM pg_catalog.pg_attribute AS a\n\
                   WHERE a.attrelid = to_regclass(:table) AND a.attnum > 0 AND NOT a.attisdropped";
        Self::statement("columns", sql)
    }

    fn insert(&self, table: &Names, insert: &Insert) -> Statement {
        let (columns, values) = self.inserted(table, insert, false);
        let sql = format!(
            "INSERT INTO {t} ({columns})\nVALUES ({values})\nRETURNING {t}.{id}",
            t = table.table,
            id = table.id,
        );
        Self::statement("insert", &sql)
    }

    fn insert_many(
        &self,
        table: &Names,
        insert: &Insert,
        rows: usize,
    ) -> Option<(Statement, usize)> {
        let (columns, values) = self.inserted(table, insert, true);
        let mut arrays = Vec::new();
        let mut names = Vec::new();
        if insert.id {
            arrays.push(":ids".to_owned());
            names.push("id".to_owned());
        }
        if insert.payload {
            arrays.push(":payloads".to_owned());
            names.push("payload".to_owned());
        }
        for (n, (_, each)) in insert.data.iter().enumerate() {
            if *each {
                arrays.push(format!(":each{n}"));
                names.push(format!("each{n}"));
            }
        }
        let sql = format!(
            "INSERT INTO {t} ({columns})\nSELECT {values}\nFROM unnest({arrays}) WITH ORDINALITY AS \
             u({names}, n)\nORDER BY u.n\nRETURNING {t}.{id}",
            t = table.table,
            arrays = arrays.join(", "),
            names = names.join(", "),
            id = table.id,
        );
        Some((Self::statement("insert_many", &sql), rows))
    }
}

/// The id, read by a claim.
fn id(table: &Names) -> String {
    format!("c.{}", table.id)
}

/// Rows that are not left out.
fn others(table: &Names) -> String {
    format!("NOT (c.{} = ANY (:ids))", table.id)
}

impl Postgres {
    /// What an event changes in a row, besides what owned it; nothing if it deletes the row, and
    /// `None` where the table has no column for it.
    fn changes(self, table: &Names, event: Event) -> Option<Vec<String>> {
        let mut set = Vec::new();
        // What is different for each row is looked up by its id; a join could be planned badly.
        let of_row = |array: &str| format!("({array})[array_position(:ids, j.{})]", table.id);
        match event {
            Event::Ack => {
                let at = table.processed_at.as_ref();
                set.extend(at.map(|at| format!("{} = {}", at.name, self.now(at.form))));
                return Some(set);
            }
            Event::Retry => {}
            Event::RetryAfter => {
                let retry_after = table.retry_after.as_ref()?;
                let later = self.later(retry_after.form, &of_row(":delays::bigint[]"));
                set.push(format!("{} = {later}", retry_after.name));
            }
            Event::DeadLetter => {
                set.push(format!("{} = :dead_letter", table.group.as_ref()?));
                set.extend(table.attempt.as_ref().map(|attempt| format!("{} = 1", attempt.name)));
                if let Some(TimeName { name, form, nullable }) = &table.retry_after {
                    let due = if *nullable { "NULL".to_owned() } else { self.now(*form) };
                    set.push(format!("{name} = {due}"));
                }
            }
            Event::GiveBack => {
                let attempt = table.attempt.as_ref();
                set.extend(attempt.map(|attempt| format!("{0} = j.{0} - 1", attempt.name)));
                return Some(set);
            }
            Event::Release => return Some(set),
        }
        if let Some(column) = &table.last_error {
            let reason = of_row(":reasons::text[]");
            set.push(format!("{column} = coalesce({reason}, j.{column})"));
        }
        Some(set)
    }

    fn inserted(self, table: &Names, insert: &Insert, many: bool) -> (String, String) {
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
            add(name, self.later(*form, ":delay::bigint"));
        }
        if let (true, Some(payload)) = (insert.payload, &table.payload) {
            add(payload, if many { "u.payload" } else { ":payload" }.to_owned());
        }
        for (n, (name, each)) in insert.data.iter().enumerate() {
            add(&Names::data(name), if *each { format!("u.each{n}") } else { format!(":data{n}") });
        }
        (columns.join(", "), values.join(", "))
    }
}
