//! A queue in a table of your own database, declared.

#[cfg(not(any(feature = "postgres", feature = "sqlite")))]
compile_error!(
    "queue-table needs a database\nhelp: add a feature in Cargo.toml: `queue-table = { version = \"0.1\", features = [\"postgres\"] }` (or `sqlite`)"
);

// In the order of the data flow, which is the architecture: see ARCHITECTURE.md.

pub mod descriptor;
mod dialect;
mod backend;
mod broker;
mod claim;
mod delivery;
mod handler;
mod settle;
mod publish;
mod service;

mod error;
mod telemetry;

pub mod prelude;
#[doc(hidden)]
pub mod __private;

pub use backend::{Backend, Col, Each, IdOn, RowOf};
pub use broker::{ClosedSqlxBroker, ConnectedSqlxBroker, OwnPool, SharedPool, SqlxBroker};
pub use descriptor::{Column, TableDescriptor};
pub use error::{Error, SqlxBrokerError};
pub use handler::{
    Ctx, DecodeFailure, Extractor, FromDelivery, IntoOutcome, Meta, Mount, Mounted, Outcome,
    QueueTable, State, TableOn, keys,
};
pub use publish::{Field, Inserted, InsertedMany, Message, Messages, Publisher};
pub use service::{Mounts, RunningService, Service, Source};
pub use queue_table_macros::{QueueTable, subscriber};
pub use tokio_util::sync::CancellationToken;
