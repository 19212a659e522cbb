//! A queue in a table of your own database, declared.

#[cfg(not(any(feature = "postgres", feature = "sqlite")))]
compile_error!(
    "queue-table needs a database\nhelp: add a feature in Cargo.toml: `queue-table = { version = \"0.1\", features = [\"postgres\"] }` (or `sqlite`)"
);

pub mod descriptor;
pub mod dialect;
mod backend;

pub use backend::{Backend, Col, Fault, IdOn, RowOf};
pub use descriptor::{Column, TableDescriptor};
