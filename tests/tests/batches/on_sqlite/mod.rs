//! The same promises on SQLite.

pub(crate) type Database = sqlx::Sqlite;

#[expect(clippy::duplicate_mod, reason = "the same tests on another kind of database")]
#[path = "../promises/mod.rs"]
pub(crate) mod promises;
