//! A handler that works until the test lets it end, and what the tests of this folder share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use queue_table::prelude::*;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::queue::Script;
use tokio::sync::watch;

/// Holds handlers back. Rows are let through in the order of their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    open_to: watch::Sender<i64>,
    ended: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        Self { open_to: watch::Sender::new(0), ended: Arc::default(), lost: Arc::default() }
    }

    /// Lets every row up to a number end.
    pub(crate) fn open_to(&self, n: i64) {
        self.open_to.send_replace(n);
    }

    /// How many handlers have ended.
    pub(crate) fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    /// How many of them had been told that they lost their row.
    pub(crate) fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }

    /// Says `outcome` of each delivery that is let through.
    pub(crate) fn then(
        &self,
        outcome: impl Fn(i64, u32) -> Outcome + Clone + Send + Sync + 'static,
    ) -> Script {
        let gate = self.clone();
        Script::new(move |seen| {
            let (gate, outcome) = (gate.clone(), outcome.clone());
            async move {
                let mut open_to = gate.open_to.subscribe();
                open_to.wait_for(|open_to| *open_to >= seen.n).await.unwrap();
                gate.lost.fetch_add(seen.cancellation.is_cancelled().into(), Ordering::Relaxed);
                gate.ended.fetch_add(1, Ordering::Relaxed);
                outcome(seen.n, seen.attempt)
            }
        })
    }

    /// Acks each row that is let through.
    pub(crate) fn then_ack(&self) -> Script {
        self.then(|_, _| Outcome::ack())
    }
}

/// How many rows are in `jobs`.
pub(crate) async fn left<DB: Db>(db: &TestDb<DB>) -> i64 {
    db.value("SELECT count(*) FROM jobs").await
}

/// Counts the statements that delete rows of `jobs`, those that fail too: a sequence is not rolled
/// back. PostgreSQL only.
pub(crate) async fn count_deletes<DB: Db>(db: &TestDb<DB>) {
    db.execute(
        "CREATE SEQUENCE deletes; \
         CREATE FUNCTION count_delete() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN PERFORM nextval(''deletes''); RETURN NULL; END'; \
         CREATE TRIGGER count_delete BEFORE DELETE ON jobs \
         FOR EACH STATEMENT EXECUTE FUNCTION count_delete()",
    )
    .await;
}

/// How many there were since [`count_deletes`].
pub(crate) async fn deletes<DB: Db>(db: &TestDb<DB>) -> i64 {
    db.value("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM deletes").await
}
