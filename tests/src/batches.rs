//! Handlers of batches that do what a test tells them.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use queue_table::prelude::*;

/// One call of a handler of batches.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which messages, or which rows.
    pub rows: Vec<i64>,
    /// Fires when one of the rows is lost.
    pub cancellation: CancellationToken,
}

/// What a test wants its handler of batches to do.
#[derive(Clone)]
pub struct BatchScript {
    act: Arc<dyn Fn(Call) -> BoxFuture<'static, Vec<Outcome>> + Send + Sync>,
    calls: Arc<Mutex<Vec<Vec<i64>>>>,
}

impl fmt::Debug for BatchScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchScript").field("calls", &self.calls()).finish_non_exhaustive()
    }
}

impl BatchScript {
    /// A handler that does `act` and notes each call.
    pub fn new<F: Future<Output = Vec<Outcome>> + Send + 'static>(
        act: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self {
        Self { act: Arc::new(move |call| Box::pin(act(call))), calls: Arc::default() }
    }

    /// A handler that says for each row what `outcome` makes of it.
    #[must_use]
    pub fn each(outcome: impl Fn(i64) -> Outcome + Send + Sync + 'static) -> Self {
        Self::new(move |call| {
            std::future::ready(call.rows.iter().map(|&n| outcome(n)).collect::<Vec<_>>())
        })
    }

    /// A handler that acks everything.
    #[must_use]
    pub fn ack() -> Self {
        Self::each(|_| Outcome::ack())
    }

    /// The rows of each call so far.
    #[must_use]
    pub fn calls(&self) -> Vec<Vec<i64>> {
        self.calls.lock().clone()
    }

    /// All rows so far, in the order of the calls.
    #[must_use]
    pub fn rows(&self) -> Vec<i64> {
        self.calls.lock().concat()
    }

    /// Does for rows what the test wants.
    pub async fn act(&self, call: Call) -> Vec<Outcome> {
        self.calls.lock().push(call.rows.clone());
        (self.act)(call).await
    }
}

/// On tables with leases.
pub mod leases {
    use queue_table::prelude::*;

    use super::{BatchScript, Call};
    use crate::queue::Task;
    pub use crate::queue::{BareJob, FREE, Job, create_tables, in_work};

    /// Works on messages of `jobs` of group `work` as the test's script says.
    #[subscriber(Job, group = "work", batch = 10, poll_interval = "50ms")]
    pub async fn batched(
        tasks: &[Task],
        State(script): State<BatchScript>,
        cancellation: CancellationToken,
    ) -> Vec<Outcome> {
        script.act(Call { rows: tasks.iter().map(|task| task.n).collect(), cancellation }).await
    }

    /// Works on rows of `jobs` of group `work` as the test's script says.
    #[subscriber(Job, group = "work", batch = 10, poll_interval = "50ms")]
    pub async fn batched_rows(
        cancellation: CancellationToken,
        rows: &[Job],
        State(script): State<BatchScript>,
    ) -> Vec<Outcome> {
        script.act(Call { rows: rows.iter().map(|row| row.id).collect(), cancellation }).await
    }

    /// Works on messages of `bare_jobs` as the test's script says.
    #[subscriber(BareJob, batch = 10, poll_interval = "50ms")]
    pub async fn batched_bare(
        tasks: &[Task],
        State(script): State<BatchScript>,
        cancellation: CancellationToken,
    ) -> Vec<Outcome> {
        script.act(Call { rows: tasks.iter().map(|task| task.n).collect(), cancellation }).await
    }
}

/// On tables whose rows are locked.
pub mod row_locks {
    use queue_table::prelude::*;

    use super::{BatchScript, Call};
    use crate::queue::Task;
    pub use crate::row_lock::{BareJob, FREE, Job, create_tables, in_work};

    /// Works on messages of `jobs` of group `work` as the test's script says.
    #[subscriber(Job, group = "work", batch = 10, poll_interval = "50ms")]
    pub async fn batched(
        tasks: &[Task],
        State(script): State<BatchScript>,
        cancellation: CancellationToken,
    ) -> Vec<Outcome> {
        script.act(Call { rows: tasks.iter().map(|task| task.n).collect(), cancellation }).await
    }

    /// Works on rows of `jobs` of group `work` as the test's script says.
    #[subscriber(Job, group = "work", batch = 10, poll_interval = "50ms")]
    pub async fn batched_rows(
        cancellation: CancellationToken,
        rows: &[Job],
        State(script): State<BatchScript>,
    ) -> Vec<Outcome> {
        script.act(Call { rows: rows.iter().map(|row| row.id).collect(), cancellation }).await
    }

    /// Works on messages of `bare_jobs` as the test's script says.
    #[subscriber(BareJob, batch = 10, poll_interval = "50ms")]
    pub async fn batched_bare(
        tasks: &[Task],
        State(script): State<BatchScript>,
        cancellation: CancellationToken,
    ) -> Vec<Outcome> {
        script.act(Call { rows: tasks.iter().map(|task| task.n).collect(), cancellation }).await
    }
}
