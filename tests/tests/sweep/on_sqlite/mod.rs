//! The same sweep on SQLite.

pub(crate) type Database = sqlx::Sqlite;

#[expect(clippy::duplicate_mod, reason = "the same sweep on another kind of database")]
#[path = "../cases/mod.rs"]
pub(crate) mod cases;
