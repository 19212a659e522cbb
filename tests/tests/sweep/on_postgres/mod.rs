//! The sweep on PostgreSQL.

pub(crate) type Database = sqlx::Postgres;

#[path = "../cases/mod.rs"]
pub(crate) mod cases;
