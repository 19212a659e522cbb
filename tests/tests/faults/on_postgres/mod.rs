//! Rows that cannot be written, on PostgreSQL.

pub(crate) type Database = sqlx::Postgres;

#[path = "../rows/mod.rs"]
pub(crate) mod rows;
