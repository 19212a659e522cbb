//! The one place where text becomes SQL that sqlx runs.

use std::sync::Arc;

use sqlx::AssertSqlSafe;
use sqlx::{SqlSafeStr, SqlStr};

use crate::dialect::Statement;

/// Statements as sqlx takes them.
pub(crate) trait Sql {
    fn sql(&self) -> SqlStr;
}

impl Sql for Statement {
    // Safe: a dialect renders it from a descriptor, with quoted identifiers and without values,
    // and every text is a golden file.
    fn sql(&self) -> SqlStr {
        AssertSqlSafe(Arc::clone(self.text())).into_sql_str()
    }
}
