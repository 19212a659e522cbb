//! When a subscription looks at its table.

use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::{eventually, eventually_within, work_for};

use super::queue::{Job, Script, Task, create_tables, own_group, scripted};
use super::{Database, broker};

conformance![
    Database:
    a_publish_through_the_broker_wakes_at_once,
    wake_after_the_commit_wakes_at_once,
    a_retry_is_claimed_at_once,
    a_known_due_time_is_waited_for,
    a_dead_letter_wakes_its_group,
    rows_of_others_are_found_by_the_poll,
    a_full_claim_is_followed_by_another_at_once,
    due_retries_are_not_starved_by_fresh_rows,
    a_row_behind_the_watermark_is_found,
    rows_are_delivered_in_the_order_of_the_claim,
];

/// Nothing in these tests waits for a poll unless it says so.
const NEVER: Duration = Duration::from_secs(3600);

async fn never_polling(db: &TestDb<Database>, script: &Script, group: &str) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(scripted.group(group).poll_interval(NEVER));
    });
    service.start().await.unwrap()
}

/// Puts rows into a group, with the messages 1, 2, .. and the ids of the same.
async fn publish(db: &TestDb<Database>, rows: i64, group: &str) {
    let tasks: Vec<_> = (1..=rows).map(|n| Task { n }).collect();
    Job::messages(&tasks).group(group).ids(1..=rows).insert(db.pool()).await.unwrap();
}

/// Waits until the subscription has looked at the empty table, and waits for its poll.
async fn idle(db: &TestDb<Database>, script: &Script, group: &str) {
    Job::message(&Task { n: 0 }).group(group).insert(db.pool()).await.unwrap().wake();
    eventually("the first row", async || script.seen().iter().any(|(n, _)| *n == 0)).await;
    eventually("it is settled", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
}

async fn a_publish_through_the_broker_wakes_at_once(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    let script = Script::always(Outcome::ack());
    let connected = broker(&db).connect().await.unwrap();
    let publisher = connected.publisher::<Job>();
    let service = Service::new("test").state(script.clone()).with_broker(connected, |b| {
        b.mount(scripted.group(group.as_str()).poll_interval(NEVER));
    });
    let running = service.start().await.unwrap();
    idle(&db, &script, &group).await;
    publisher.publish(Job::message(&Task { n: 5 }).group(group.as_str())).await.unwrap();
    eventually("the row", async || script.seen().contains(&(5, 1))).await;
    running.shutdown().await.unwrap();
}

async fn wake_after_the_commit_wakes_at_once(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    let script = Script::always(Outcome::ack());
    let running = never_polling(&db, &script, &group).await;
    idle(&db, &script, &group).await;
    let mut tx = db.pool().begin().await.unwrap();
    let job = Job::message(&Task { n: 5 }).group(group.as_str()).insert(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    job.wake();
    eventually("the row", async || script.seen().contains(&(5, 1))).await;
    running.shutdown().await.unwrap();
}

async fn a_retry_is_claimed_at_once(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    let script = Script::new(async |seen| {
        if seen.attempt < 20 && seen.n > 0 { Outcome::retry() } else { Outcome::ack() }
    });
    let running = never_polling(&db, &script, &group).await;
    idle(&db, &script, &group).await;
    Job::message(&Task { n: 1 }).group(group.as_str()).insert(db.pool()).await.unwrap().wake();
    eventually("twenty deliveries", async || script.seen().contains(&(1, 20))).await;
    running.shutdown().await.unwrap();
}

async fn a_known_due_time_is_waited_for(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    let script = Script::new(async |seen| match (seen.n, seen.attempt) {
        (1, 1) => Outcome::retry_after(Duration::from_millis(300)),
        (2, 1) => Outcome::retry_after(Duration::from_millis(100)),
        _ => Outcome::ack(),
    });
    let running = never_polling(&db, &script, &group).await;
    idle(&db, &script, &group).await;
    for n in [1, 2] {
        Job::message(&Task { n }).group(group.as_str()).insert(db.pool()).await.unwrap().wake();
    }
    let both = async || script.seen().contains(&(1, 2)) && script.seen().contains(&(2, 2));
    eventually("both come back", both).await;
    running.shutdown().await.unwrap();
}

async fn a_dead_letter_wakes_its_group(db: TestDb<Database>) {
    create_tables(&db).await;
    let (group, dead) = (own_group(), own_group());
    let script = Script::new(async |seen| match seen.n {
        0 => Outcome::ack(),
        _ => Outcome::retry(),
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(
            scripted
                .group(group.as_str())
                .poll_interval(NEVER)
                .max_attempts(1)
                .dead_letter_group(dead.as_str()),
        );
        b.mount(buried.group(dead.as_str()));
    });
    let running = service.start().await.unwrap();
    idle(&db, &script, &group).await;
    Job::message(&Task { n: 1 }).group(group.as_str()).insert(db.pool()).await.unwrap().wake();
    eventually("the dead letter was worked on", async || {
        script.seen().contains(&(1, 1)) && db.value::<i64>("SELECT count(*) FROM jobs").await == 0
    })
    .await;
    running.shutdown().await.unwrap();
}

#[subscriber(super::queue::Job, group = "failed", poll_interval = "1h")]
async fn buried(_task: &Task) {}

async fn rows_of_others_are_found_by_the_poll(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.group(group.as_str()).poll_interval(Duration::from_millis(50)));
    });
    let running = service.start().await.unwrap();
    idle(&db, &script, &group).await;
    publish(&db, 1, &group).await;
    eventually("the row", async || script.seen().contains(&(1, 1))).await;
    running.shutdown().await.unwrap();
}

async fn a_full_claim_is_followed_by_another_at_once(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    publish(&db, 300, &group).await;
    let script = Script::always(Outcome::ack());
    let running = never_polling(&db, &script, &group).await;
    eventually("all rows", async || script.seen().len() == 300).await;
    running.shutdown().await.unwrap();
}

async fn due_retries_are_not_starved_by_fresh_rows(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    publish(&db, 2000, &group).await;
    let past = <Database as Db>::now_plus(-60);
    db.execute(format!("UPDATE jobs SET retry_after = {past}, attempt = 2 WHERE id = 2000")).await;
    // Fresh rows come first in the order, and these handlers never catch up with them in time.
    let script = Script::new(async |_| {
        work_for(Duration::from_millis(20)).await;
        Outcome::ack()
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.group(group.as_str()).poll_interval(NEVER).workers(4));
    });
    let running = service.start().await.unwrap();
    eventually_within(Duration::from_secs(6), "the retry", async || {
        script.seen().contains(&(2000, 2))
    })
    .await;
    assert!(script.seen().len() < 1900, "before the backlog was done");
    running.shutdown().await.unwrap();
}

async fn a_row_behind_the_watermark_is_found(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    let tasks: Vec<_> = (1001..=1400).map(|n| Task { n }).collect();
    Job::messages(&tasks).group(group.as_str()).ids(1001..=1400).insert(db.pool()).await.unwrap();
    let script = Script::new(async |_| {
        work_for(Duration::from_millis(10)).await;
        Outcome::ack()
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.group(group.as_str()).poll_interval(NEVER).workers(2));
    });
    let running = service.start().await.unwrap();
    eventually("the backlog is in work", async || script.seen().len() > 20).await;
    // A transaction that drew its id early and commits now.
    let late = Job::message(&Task { n: 1 }).group(group.as_str()).id(1);
    late.insert(db.pool()).await.unwrap();
    eventually("the late row", async || script.seen().contains(&(1, 1))).await;
    assert!(script.seen().len() < 400, "before the backlog was done");
    running.shutdown().await.unwrap();
}

async fn rows_are_delivered_in_the_order_of_the_claim(db: TestDb<Database>) {
    create_tables(&db).await;
    let group = own_group();
    publish(&db, 6, &group).await;
    let past = |seconds| <Database as Db>::now_plus(seconds);
    db.execute(format!("UPDATE jobs SET retry_after = {} WHERE id = 1", past(-10))).await;
    db.execute(format!("UPDATE jobs SET retry_after = {} WHERE id = 2", past(-20))).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(scripted.group(group.as_str()).workers(1));
    });
    let running = service.start().await.unwrap();
    eventually("all rows", async || script.seen().len() == 6).await;
    running.shutdown().await.unwrap();
    let order: Vec<_> = script.seen().into_iter().map(|(n, _)| n).collect();
    assert_eq!(order, [3, 4, 5, 6, 2, 1], "null first, then by due time, then by id");
}
