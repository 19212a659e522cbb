//! How a database performs an event: with one statement, or with two.

use super::{Many, Statement};

/// How a database performs an event.
#[derive(Debug, Clone)]
pub enum Plan {
    /// With one statement.
    One(Many),
    /// With two, in one transaction.
    CopyThenDelete(CopyThenDelete),
}

/// Rows are copied to another table and then deleted. Both statements answer with the ids, and the
/// transaction is committed if these are the same.
#[derive(Debug, Clone)]
pub struct CopyThenDelete {
    /// What stands around the statements.
    pub transaction: Transaction,
    /// Copies the rows.
    pub copy: Many,
    /// Deletes them.
    pub delete: Many,
}

/// The texts around the statements of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Begins it; nobody else writes until it ends.
    pub begin: &'static str,
    /// Keeps what it wrote.
    pub commit: &'static str,
    /// Undoes it.
    pub rollback: &'static str,
}

impl Plan {
    /// The most rows that it takes.
    #[must_use]
    pub fn max_rows(&self) -> usize {
        self.parts().map(Many::max_rows).min().unwrap_or_default()
    }

    /// Its statements over many rows, in their order.
    pub fn parts(&self) -> impl Iterator<Item = &Many> {
        match self {
            Self::One(many) => [Some(many), None],
            Self::CopyThenDelete(two) => [Some(&two.copy), Some(&two.delete)],
        }
        .into_iter()
        .flatten()
    }

    /// Every text of it, for start-up and the golden files.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.parts().flat_map(Many::statements)
    }
}
