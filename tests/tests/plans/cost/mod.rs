//! What statements cost on a million rows.

pub(crate) mod on_postgres;
pub(crate) mod on_sqlite;
