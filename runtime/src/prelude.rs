//! What a service's files usually need: `use queue_table::prelude::*;`.

pub use crate::handler::{Ctx, DecodeFailure, Meta, Mount, Outcome, QueueTable, State, keys};
pub use crate::service::{RunningService, Service};
pub use crate::{Error, SqlxBroker, SqlxBrokerError, subscriber};
pub use queue_table_macros::QueueTable;
pub use tokio_util::sync::CancellationToken;
