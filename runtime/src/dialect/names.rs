//! The table's names as SQL writes them: quoted once, here, and nowhere else.

use crate::descriptor::{Column, Count, Form, Role, TableDescriptor, TimeForm};

/// A quoted identifier. The quote is doubled inside; every database here takes double quotes.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A time column.
#[derive(Debug, Clone)]
pub(crate) struct TimeName {
    pub(crate) name: String,
    pub(crate) form: TimeForm,
    pub(crate) nullable: bool,
}

/// A column that counts deliveries.
#[derive(Debug, Clone)]
pub(crate) struct CountName {
    pub(crate) name: String,
    pub(crate) count: Count,
}

/// The quoted names of a table and of the columns that have a role.
#[derive(Debug, Clone)]
pub struct Names {
    pub(crate) table: String,
    pub(crate) has_schema: bool,
    pub(crate) columns: Vec<(String, Role)>,
    pub(crate) id: String,
    pub(crate) group: Option<String>,
    pub(crate) attempt: Option<CountName>,
    pub(crate) retry_after: Option<TimeName>,
    /// A table without it locks its rows instead of leasing them.
    pub(crate) locked_until: Option<TimeName>,
    pub(crate) processed_at: Option<TimeName>,
    pub(crate) last_error: Option<String>,
    pub(crate) payload: Option<String>,
}

impl Names {
    /// Quotes the names of a table, or nothing where the declaration has no id.
    #[must_use]
    pub fn new(table: &TableDescriptor) -> Option<Self> {
        let name = |role| table.column(role).map(|column| quote(column.name()));
        let time = |role| table.column(role).and_then(time_name);
        let qualified = match table.schema_name() {
            Some(schema) => format!("{}.{}", quote(schema), quote(table.name())),
            None => quote(table.name()),
        };
        Some(Self {
            table: qualified,
            has_schema: table.schema_name().is_some(),
            columns: table.columns().iter().map(|c| (quote(c.name()), c.role())).collect(),
            id: name(Role::Id)?,
            group: name(Role::Group),
            attempt: table.column(Role::Attempt).and_then(count_name),
            retry_after: time(Role::RetryAfter),
            locked_until: time(Role::LockedUntil),
            processed_at: time(Role::ProcessedAt),
            last_error: name(Role::LastError),
            payload: name(Role::Payload),
        })
    }

    /// The table's quoted and qualified name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Quotes the name of a data column.
    pub(crate) fn data(name: &str) -> String {
        quote(name)
    }
}

fn time_name(column: &Column) -> Option<TimeName> {
    match column.form() {
        Form::Time { form, nullable } => {
            Some(TimeName { name: quote(column.name()), form, nullable })
        }
        _ => None,
    }
}

fn count_name(column: &Column) -> Option<CountName> {
    match column.form() {
        Form::Count(count) => Some(CountName { name: quote(column.name()), count }),
        _ => None,
    }
}
