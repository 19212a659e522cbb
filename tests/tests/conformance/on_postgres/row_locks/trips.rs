//! How often the server is asked: for a poll, and for a row.

use std::time::{Duration, Instant};

use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::proxy::Proxy;

use super::Database;
use super::queue::{Job, Script, Task, create_tables, own_group, scripted};

conformance![
    Database:
    an_idle_subscription_asks_once_a_poll_however_many_workers,
    a_row_costs_three_round_trips,
];

async fn through(
    url: &str,
    script: &Script,
    group: &str,
    poll: Duration,
    workers: usize,
) -> RunningService {
    let broker = SqlxBroker::<Database>::from_url(url).connection_limit(40);
    let service = Service::new("test").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted.group(group).workers(workers).poll_interval(poll));
    });
    service.start().await.unwrap()
}

/// Six polls, and nothing else.
async fn asks_once_a_poll(proxy: &Proxy, poll: Duration) {
    let first = proxy.asked();
    eventually("a poll", async || proxy.asked() > first).await;
    let (first, since) = (proxy.asked(), Instant::now());
    eventually("six more", async || proxy.asked() >= first + 6).await;
    // Polls are jittered down to three quarters; the first of the six may have been on its way.
    assert!(since.elapsed() > poll * 5 * 3 / 4, "{:?}", since.elapsed());
}

async fn an_idle_subscription_asks_once_a_poll_however_many_workers(db: TestDb<Database>) {
    create_tables(&db).await;
    let (proxy, url) = Proxy::before(db.url()).await;
    let poll = Duration::from_millis(200);
    let script = Script::always(Outcome::ack());
    let running = through(&url, &script, &own_group(), poll, 32).await;
    asks_once_a_poll(&proxy, poll).await;
    running.shutdown().await.unwrap();
}

async fn a_row_costs_three_round_trips(db: TestDb<Database>) {
    create_tables(&db).await;
    let (proxy, url) = Proxy::before(db.url()).await;
    let group = own_group();
    let (rows, n) = (1..=500, 500);
    let tasks: Vec<_> = rows.clone().map(|n| Task { n }).collect();
    Job::messages(&tasks).group(group.as_str()).ids(rows).insert(db.pool()).await.unwrap();
    let script = Script::always(Outcome::ack());
    let running = through(&url, &script, &group, Duration::from_secs(3600), 1).await;
    eventually("no row is left", async || db.value::<i64>("SELECT count(*) FROM jobs").await == 0)
        .await;
    let asked = proxy.asked();
    running.shutdown().await.unwrap();
    // A claim, an outcome, a commit; and some more for the start, for each second, and at the end.
    assert!((3 * n..3 * n + 100).contains(&asked), "{asked} round trips for {n} rows");
}
