//! Handlers: futures of the user's, which the queue drops when it aborts them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Script, scripted};

use super::super::Database;
use super::ground::sweep;

conformance![Database: a_handler_is_dropped_at_each_of_its_awaits];

const AWAITS: usize = 3;

/// Its row comes back with the count that it had, so the next delivery is again the first.
async fn a_handler_is_dropped_at_each_of_its_awaits(db: TestDb<Database>) {
    sweep(db, async |ground, _, point| {
        ground.publish(1).await;
        let reached = Arc::new(AtomicUsize::new(0));
        let (last, at) = (point.polls, Arc::clone(&reached));
        let script = Script::new(move |_| {
            let at = Arc::clone(&at);
            async move {
                for _ in 0..last {
                    tokio::task::yield_now().await;
                    at.fetch_add(1, Ordering::Relaxed);
                }
                std::future::pending().await
            }
        });
        let service = Service::new("aborted").state(script.clone());
        let service = service.with_broker(ground.broker(), |b| {
            b.mount(scripted);
        });
        let running = service.start().await.unwrap();
        eventually("the handler is there", async || {
            script.seen().len() == 1 && reached.load(Ordering::Relaxed) == last
        })
        .await;
        drop(running);
        ground.is_sound().await;
        assert_eq!(script.seen().len(), 1);
        let counts: Vec<(i64,)> = ground.db.rows("SELECT attempt FROM jobs").await;
        assert_eq!(counts, [(1,)], "the count that it had");
        ground.db.execute("DELETE FROM jobs").await;
        point.polls == AWAITS
    })
    .await;
}
