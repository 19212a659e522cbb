//! The promises on PostgreSQL.

pub(crate) mod row_locks;

pub(crate) type Database = sqlx::Postgres;

#[path = "../promises/mod.rs"]
pub(crate) mod promises;
