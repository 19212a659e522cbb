//! A statement with its values, ready to be sent, and how it can fail.

use sqlx::SqlStr;

use super::{Backend, Fault};

/// A statement with its values.
pub(crate) struct Query<DB: Backend> {
    pub(crate) name: &'static str,
    pub(crate) sql: SqlStr,
    pub(crate) arguments: DB::Arguments,
}

/// Why a statement gave no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) fault: Fault,
    pub(crate) statement: &'static str,
    pub(crate) error: sqlx::Error,
}

impl Failure {
    pub(crate) fn new<DB: Backend>(statement: &'static str, error: sqlx::Error) -> Self {
        Self { fault: DB::fault(&error), statement, error }
    }

    /// The values could not be bound: the row's data is at fault.
    pub(crate) fn bind(statement: &'static str, error: sqlx::error::BoxDynError) -> Self {
        Self { fault: Fault::Data, statement, error: sqlx::Error::Encode(error) }
    }
}
