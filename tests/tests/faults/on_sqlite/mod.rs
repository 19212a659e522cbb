//! The same on SQLite.

pub(crate) mod busy;
pub(crate) mod meaning;

pub(crate) type Database = sqlx::Sqlite;

#[expect(clippy::duplicate_mod, reason = "the same tests on another kind of database")]
#[path = "../rows/mod.rs"]
pub(crate) mod rows;

#[expect(clippy::duplicate_mod, reason = "the same tests on another kind of database")]
#[path = "../outside.rs"]
pub(crate) mod outside;
