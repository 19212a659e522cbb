//! Why an outcome is not in the table, for whoever waits for it.

use std::sync::Arc;

use tokio::sync::oneshot;

/// Why an outcome is not in the table.
#[derive(Debug, Clone)]
pub(crate) enum Unwritten {
    /// The delivery no longer owns its row.
    Lost,
    /// The database refuses it.
    Refused {
        statement: &'static str,
        /// Shared, because one statement can be of many rows.
        error: Arc<sqlx::Error>,
    },
    /// Nobody is left who could write it.
    Closed,
}

/// Is told what became of an outcome. Handlers wait for nothing, and have none.
pub(crate) type Waiter = oneshot::Sender<Result<(), Unwritten>>;
