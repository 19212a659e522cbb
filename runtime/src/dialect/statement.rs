//! A statement: its text, and which values go into it in which order.
//!
//! Statements are written with named markers (`:group`, `:limit`) and turned into the database's
//! placeholders here, so that the order of the parameters can never differ from the text's.

use std::sync::Arc;

use crate::descriptor::TimeForm;

/// One value of a statement, to be bound by the backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Param {
    /// The subscription's group: text.
    Group,
    /// The group of the dead letters: text.
    DeadLetter,
    /// The most rows to claim: integer.
    Limit,
    /// The lease: microseconds.
    Lease,
    /// How far a test has moved the clock: microseconds.
    Shift,
    /// The host's time, where the host's clock is the database's.
    Now(TimeForm),
    /// The host's time plus the lease.
    Until(TimeForm),
    /// `retry_after` of the last row that was claimed, or null.
    AfterTime(TimeForm),
    /// The id of the last row that was claimed.
    AfterId,
    /// The table's name, for the catalog: quoted and qualified where the catalog parses it.
    Table,
    /// The table's schema, for the catalog.
    Schema,
    /// One value of a single row.
    One(RowValue),
    /// One value of every row, as an array.
    Array(RowValue),
    /// All values of every row, row by row.
    Rows(Vec<RowValue>),
}

/// What a statement over many rows needs of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowValue {
    /// The position of the row in the statement, from 0.
    Ordinal,
    /// The primary key.
    Id,
    /// The token of the delivery.
    Token,
    /// The count that the claim stored.
    Attempt,
    /// The reason, or null.
    Reason,
    /// The delay: microseconds.
    Delay,
    /// The host's time plus the delay.
    Due(TimeForm),
    /// The token plus one tick.
    NextToken,
    /// The message.
    Payload,
    /// The n-th data column that the publisher named.
    Data(usize),
}

/// SQL text with its parameters.
#[derive(Debug, Clone)]
pub struct Statement {
    name: &'static str,
    text: Arc<str>,
    params: Vec<Param>,
}

/// How a database writes placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholders {
    /// `$1`, and the same number for the same value.
    Numbered,
    /// `?`, one for each time that a value is used.
    Positional,
}

impl Statement {
    /// Turns `sql` with its markers into a statement of `rows` rows.
    ///
    /// A marker is a colon and a word. Double colons are casts, and what stands between quotes is
    /// left alone, so that a user's column can have a colon in its name.
    pub(crate) fn parse(
        name: &'static str,
        sql: &str,
        style: Placeholders,
        row: &[RowValue],
        rows: usize,
    ) -> Self {
        let mut text = String::with_capacity(sql.len() + 16 * rows);
        let mut params: Vec<Param> = Vec::new();
        let mut rest = sql;
        while let Some(at) = rest.find(['"', '\'', ':']) {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            if let Some(cast) = from.strip_prefix("::") {
                text.push_str("::");
                rest = cast;
            } else if let Some(marker) = from.strip_prefix(':') {
                let end = marker.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let (word, after) = marker.split_at(end.unwrap_or(marker.len()));
                if word == "rows" {
                    push_rows(&mut text, row.len(), rows);
                    params.push(Param::Rows(row.to_vec()));
                } else {
                    push_placeholder(&mut text, &mut params, param(word), style);
                }
                rest = after;
            } else {
                let quote = &from[..1];
                let end = from[1..].find(quote).map_or(from.len(), |end| end + 2);
                text.push_str(&from[..end]);
                rest = &from[end..];
            }
        }
        text.push_str(rest);
        Self { name, text: text.into(), params }
    }

    /// What the statement does, in one word, for errors and golden files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The SQL text.
    #[must_use]
    pub const fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The values, in the order in which they are bound.
    #[must_use]
    pub fn params(&self) -> &[Param] {
        &self.params
    }
}

fn push_placeholder(text: &mut String, params: &mut Vec<Param>, param: Param, style: Placeholders) {
    match style {
        Placeholders::Positional => {
            text.push('?');
            params.push(param);
        }
        Placeholders::Numbered => {
            let known = params.iter().position(|known| *known == param);
            let number = known.unwrap_or_else(|| {
                params.push(param);
                params.len() - 1
            });
            text.push_str(&format!("${}", number + 1));
        }
    }
}

fn push_rows(text: &mut String, values: usize, rows: usize) {
    let row = format!("({})", vec!["?"; values].join(", "));
    text.push_str(&vec![row; rows].join(", "));
}

fn param(word: &str) -> Param {
    match word {
        "group" => Param::Group,
        "dead_letter" => Param::DeadLetter,
        "limit" => Param::Limit,
        "lease" => Param::Lease,
        "shift" => Param::Shift,
        "now_native" => Param::Now(TimeForm::Native),
        "now_micros" => Param::Now(TimeForm::Micros),
        "until_native" => Param::Until(TimeForm::Native),
        "until_micros" => Param::Until(TimeForm::Micros),
        "after_native" => Param::AfterTime(TimeForm::Native),
        "after_micros" => Param::AfterTime(TimeForm::Micros),
        "after_id" => Param::AfterId,
        "table" => Param::Table,
        "schema" => Param::Schema,
        "id" => Param::One(RowValue::Id),
        "payload" => Param::One(RowValue::Payload),
        "delay" => Param::One(RowValue::Delay),
        "due_native" => Param::One(RowValue::Due(TimeForm::Native)),
        "due_micros" => Param::One(RowValue::Due(TimeForm::Micros)),
        "ids" => Param::Array(RowValue::Id),
        "tokens" => Param::Array(RowValue::Token),
        "attempts" => Param::Array(RowValue::Attempt),
        "reasons" => Param::Array(RowValue::Reason),
        "delays" => Param::Array(RowValue::Delay),
        "payloads" => Param::Array(RowValue::Payload),
        word => data(word),
    }
}

/// `data0` is one value, `each0` one value a row.
fn data(word: &str) -> Param {
    let number = |prefix| word.strip_prefix(prefix).and_then(|n: &str| n.parse().ok());
    if let Some(n) = number("data") {
        Param::One(RowValue::Data(n))
    } else if let Some(n) = number("each") {
        Param::Array(RowValue::Data(n))
    } else {
        unreachable!("`:{word}` is not a marker; the golden files render every statement")
    }
}

/// A statement over many rows, as a database takes them.
#[derive(Debug, Clone)]
pub enum Many {
    /// One text for any number of rows: arrays.
    Arrays(Statement),
    /// One text for 1, 2, 4, .. rows: the last row is repeated until a text fits.
    Padded(Vec<Statement>),
}

impl Many {
    /// The most rows that one statement takes.
    #[must_use]
    pub fn max_rows(&self) -> usize {
        match self {
            Self::Arrays(_) => 1000,
            Self::Padded(statements) => 1 << (statements.len() - 1),
        }
    }

    /// The statement for `rows` rows, and how many rows must be bound to it.
    #[must_use]
    pub fn for_rows(&self, rows: usize) -> (&Statement, usize) {
        match self {
            Self::Arrays(statement) => (statement, rows),
            Self::Padded(statements) => {
                let size = rows.next_power_of_two();
                (&statements[size.trailing_zeros() as usize], size)
            }
        }
    }

    /// Every text of the statement, for start-up and the golden files.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        match self {
            Self::Arrays(statement) => std::slice::from_ref(statement),
            Self::Padded(statements) => statements,
        }
    }
}
