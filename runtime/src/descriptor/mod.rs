//! What the derive recorded of a declaration, as constants.
//!
//! Nothing here knows a database, a connection or a runtime.

mod column;
mod column_type;
mod columns;

pub use column::{Column, Count, Form, PayloadForm, Role, TimeForm};
pub use column_type::{
    AttemptColumn, ErrorColumn, GroupColumn, LeaseColumn, NullableTimeColumn, PayloadColumn, RowId,
    TimeColumn,
};
pub use columns::Columns;

/// A queue table as its row struct declares it.
///
/// `#[derive(QueueTable)]` makes this constant; it can be printed with `{:#?}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableDescriptor {
    schema: Option<&'static str>,
    name: &'static str,
    columns: &'static [Column],
}

impl TableDescriptor {
    /// Describes the table `name` with its columns in the order of the struct's fields.
    #[must_use]
    pub const fn new(name: &'static str, columns: &'static [Column]) -> Self {
        Self { schema: None, name, columns }
    }

    /// The same, in a schema of its database.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_schema(
        schema: &'static str,
        name: &'static str,
        columns: &'static [Column],
    ) -> Self {
        Self::new(name, columns).schema(schema)
    }

    /// Puts the table into a schema of its database.
    #[must_use]
    pub const fn schema(mut self, schema: &'static str) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Stands in for a declaration that did not compile, so that it gives one error and not many.
    #[doc(hidden)]
    #[must_use]
    pub const fn invalid() -> Self {
        Self::new("", &[])
    }

    /// The proof that every column has a type that fits its role.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked(&self) -> usize {
        0
    }

    /// The table's name, without its schema.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The schema, if the declaration names one.
    #[must_use]
    pub const fn schema_name(&self) -> Option<&'static str> {
        self.schema
    }

    /// All columns, in the order of the struct's fields.
    #[must_use]
    pub const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// The column that has a role, if one has it.
    #[must_use]
    pub fn column(&self, role: Role) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.role() == role)
    }

    /// Where the column of a role stands in [`columns`](Self::columns) and in every claimed row.
    #[must_use]
    pub fn position(&self, role: Role) -> Option<usize> {
        self.columns.iter().position(|column| column.role() == role)
    }

    /// How leases are written, in a table that has them.
    #[must_use]
    pub(crate) fn lease_form(&self) -> TimeForm {
        match self.column(Role::LockedUntil).map(Column::form) {
            Some(Form::Time { form, .. }) => form,
            _ => TimeForm::Native,
        }
    }

    /// Whether one of the columns has this role.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.column(role).is_some()
    }
}

impl std::fmt::Display for TableDescriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(schema) = self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(self.name)
    }
}
