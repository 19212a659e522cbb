#![doc = include_str!("../docs/guide.md")]

#[cfg(not(any(feature = "postgres", feature = "sqlite")))]
compile_error!(
    "queue-table needs a database\nhelp: add a feature in Cargo.toml: `queue-table = { version = \"0.1\", features = [\"postgres\"] }` (or `sqlite`)"
);

// The modules stand in the order of the data flow, and that order is the architecture.

// A declaration as constants.
pub mod descriptor;

// The descriptor's statements, per database: text and parameters, no connection.
mod dialect;

// Statements to sqlx: bind, run, decode, and what an error means.
mod backend;

// A database and its connections; start-up checks; the tasks of a subscription.
mod broker;

// When to claim, how many rows, and how to keep them.
mod claim;

// One claimed row on its way through a handler, or in the user's own hands.
mod delivery;

// Tables and handlers as Rust types.
mod handler;

// Outcomes into the table, in groups, with a verdict for each row.
mod settle;

// New rows.
mod publish;

// Brokers with their subscribers, signals, start and stop.
mod service;

mod error;
mod telemetry;

#[doc(hidden)]
pub mod __private;
pub mod prelude;

pub use backend::{Backend, Col, Each, IdOn, LocksRows, RowOf, TimeOn};
pub use broker::{
    ClosedSqlxBroker, ConnectedSqlxBroker, OwnPool, SharedPool, SqlxBroker, SubscribeOptions,
};
pub use delivery::{Delivery, DeliveryStream};
pub use descriptor::{Column, TableDescriptor};
pub use error::{Error, SqlxBrokerError};
pub use handler::{
    Ctx, DecodeFailure, Extractor, FromDelivery, IntoOutcome, IntoOutcomes, Meta, Mount, Mounted,
    Outcome, QueueTable, Run, State, TableOn, keys,
};
pub use publish::{Field, Inserted, InsertedMany, Message, Messages, Publisher};
pub use queue_table_macros::QueueTable;
pub use queue_table_macros::subscriber;
pub use service::{Mounts, RunningService, Service, Source};
pub use tokio_util::sync::CancellationToken;
