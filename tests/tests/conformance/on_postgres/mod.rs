//! The promises on PostgreSQL.

pub(crate) mod hands;
pub(crate) mod idling;
pub(crate) mod refusing;
pub(crate) mod row_locks;
pub(crate) mod times;

pub(crate) type Database = sqlx::Postgres;

#[path = "../promises/mod.rs"]
pub(crate) mod promises;
