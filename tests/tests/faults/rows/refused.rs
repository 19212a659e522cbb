//! A group of outcomes of which the database refuses one.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Job, Task, create_tables, scripted};
use queue_table_tests::stands::Kind;

use super::super::Database;
use crate::gate::{Gate, count_deletes, deletes, left};

conformance![Database: a_row_that_a_foreign_key_refuses_costs_the_others_nothing];

const GROUP: i64 = 500;
const REFUSED: i64 = 250;

/// Keeps everybody else from deleting rows, and nobody from reading them.
const HOLD: &str = match Database::KIND {
    Kind::Postgres => "BEGIN; LOCK TABLE jobs IN SHARE MODE",
    Kind::Sqlite => "BEGIN IMMEDIATE",
};

async fn a_row_that_a_foreign_key_refuses_costs_the_others_nothing(db: TestDb<Database>) {
    create_tables(&db).await;
    let on_postgres = Database::KIND == Kind::Postgres;
    if on_postgres {
        count_deletes(&db).await;
    }
    let tasks: Vec<_> = (1..=GROUP + 1).map(|n| Task { n }).collect();
    Job::messages(&tasks).group("work").ids(1..=GROUP + 1).insert(db.pool()).await.unwrap();
    db.execute(format!(
        "CREATE TABLE children (job bigint NOT NULL REFERENCES jobs (id)); \
         INSERT INTO children VALUES ({REFUSED})"
    ))
    .await;

    let gate = Gate::closed();
    let script = gate.then_ack();
    let shift = Arc::new(AtomicI64::new(0));
    let broker = SqlxBroker::<Database>::from_url(db.url());
    let broker = broker.clock(HostClock::shifted(Arc::clone(&shift)));
    let service = Service::new("refused").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.workers(501));
    });
    let running = service.start().await.unwrap();
    eventually("every row is in work", async || script.seen().len() == 501).await;

    // While the ack of the last row's forerunner waits, the other 500 gather: one group.
    let mut holder = db.pool().acquire().await.unwrap();
    sqlx::raw_sql(HOLD).execute(&mut *holder).await.unwrap();
    gate.open_to(1);
    eventually("the first handler ended", async || gate.ended() == 1).await;
    gate.open_to(GROUP + 1);
    eventually("all handlers ended", async || gate.ended() == 501).await;
    sqlx::raw_sql("COMMIT").execute(&mut *holder).await.unwrap();
    drop(holder);

    eventually("all others are settled", async || left(&db).await == 1).await;
    let now = Database::now_plus(0);
    let leased = format!("SELECT id FROM jobs WHERE attempt = 2 AND locked_until > {now}");
    stays("the refused row keeps its lease", Duration::from_millis(300), async || {
        db.rows::<(i64,)>(leased.as_str()).await == [(REFUSED,)]
    })
    .await;
    if on_postgres {
        // Nine halvings of 500 with two statements each: 2 * log2(500) + 1. On a slow machine the
        // statements that wait for the lock reach its limit, and are sent again.
        let extra = deletes(&db).await - 2;
        assert!(extra <= 18 + 6, "{extra} statements more than without the refused row");
        assert!(extra > 0, "the group was not halved");
    }

    db.execute("DELETE FROM children").await;
    shift.store(3_600_000_000, Ordering::Relaxed);
    eventually("it is delivered again after its lease", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    let again: Vec<_> = script.seen().into_iter().filter(|(_, attempt)| *attempt > 1).collect();
    assert_eq!(again, [(REFUSED, 2)]);
}
