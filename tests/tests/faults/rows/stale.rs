//! Outcomes of deliveries that lost their rows.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::queue::{Job, Script, Task, create_tables, scripted};
use tokio::sync::watch;

use super::super::Database;

conformance![Database: a_stale_holder_changes_nothing_whatever_it_says];

/// Each is said of one row that is still owned, of one with another lease, and of one with another
/// count.
const OUTCOMES: i64 = 6;

/// The last of the six is a handler that never ends: its row is given back.
fn outcome(n: i64) -> Option<Outcome> {
    match n % OUTCOMES {
        0 => Some(Outcome::ack()),
        1 => Some(Outcome::drop()),
        2 => Some(Outcome::retry().because("stale")),
        3 => Some(Outcome::retry_after(Duration::ZERO).because("stale")),
        // Its deliveries are spent.
        4 => Some(Outcome::retry().because("dead")),
        _ => None,
    }
}

type Row = (i64, String, i64, Option<String>, Option<String>, Option<String>);

async fn rows(db: &TestDb<Database>) -> Vec<Row> {
    db.rows(
        "SELECT id, kind, attempt, CAST(retry_after AS text), CAST(locked_until AS text), \
         last_error FROM jobs ORDER BY id",
    )
    .await
}

async fn a_stale_holder_changes_nothing_whatever_it_says(db: TestDb<Database>) {
    create_tables(&db).await;
    let ids = 0..3 * OUTCOMES;
    let tasks: Vec<_> = ids.clone().map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(ids).insert(db.pool()).await.unwrap();
    db.execute("UPDATE jobs SET attempt = 5 WHERE id % 6 = 4").await;

    let gate = watch::Sender::new(false);
    let held = gate.clone();
    let script = Script::new(move |seen| {
        let mut open = held.subscribe();
        async move {
            open.wait_for(|open| *open).await.unwrap();
            match outcome(seen.n) {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        }
    });
    let broker = SqlxBroker::<Database>::from_url(db.url());
    let service = Service::new("stale").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(18).max_attempts(5).dead_letter_group("failed"));
    });
    let running = service.drain_timeout(Duration::from_secs(1)).start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 18).await;
    let until = Database::now_plus(3600);
    db.execute(format!("UPDATE jobs SET locked_until = {until} WHERE id BETWEEN 6 AND 11")).await;
    db.execute("UPDATE jobs SET attempt = attempt + 1 WHERE id > 11").await;
    let before = rows(&db).await;

    let shutdown = tokio::spawn(running.shutdown());
    gate.send_replace(true);
    shutdown.await.unwrap().unwrap();
    let after = rows(&db).await;
    for row in &before {
        let unchanged = after.contains(row);
        let is_stale = row.0 >= OUTCOMES;
        assert_eq!(unchanged, is_stale, "{row:?} in {after:?}");
    }
}
