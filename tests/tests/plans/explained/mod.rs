//! The plan of every statement that is written down.

pub(crate) mod on_postgres;
pub(crate) mod on_sqlite;
