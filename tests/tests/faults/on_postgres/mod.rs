//! What fails in the same way on every database, on PostgreSQL.

pub(crate) mod meaning;

pub(crate) type Database = sqlx::Postgres;

#[path = "../rows/mod.rs"]
pub(crate) mod rows;

#[path = "../outside.rs"]
pub(crate) mod outside;
