//! A database whose clock is set back while nobody knows what became of a renewal.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use queue_table::__private::lease::HostClock;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::proxy::{Cut, Proxy};
use queue_table_tests::queue::{BareJob, Script, Task, create_tables, scripted_bare};
use sqlx::Postgres;
use tokio::sync::watch;

conformance![Postgres: a_clock_that_is_set_back_gives_nobody_the_row_of_another];

/// The microseconds of the server's own clock, which no test moves.
const NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)";

/// The table does not count deliveries, so that nothing but the lease tells two of them apart.
async fn a_clock_that_is_set_back_gives_nobody_the_row_of_another(db: TestDb<Postgres>) {
    create_tables(&db).await;
    BareJob::message(&Task { n: 1 }).id("a".to_owned()).insert(db.pool()).await.unwrap();
    let told = watch::Sender::new(false);
    let tell = told.clone();
    let script = Script::new(move |seen| {
        let tell = tell.clone();
        async move {
            seen.cancellation.cancelled().await;
            tell.send_replace(true);
            Outcome::ack()
        }
    });
    let (proxy, url) = Proxy::before(db.url()).await;
    let shift = Arc::new(AtomicI64::new(0));
    let clock = HostClock::shifted(Arc::clone(&shift));
    let broker = SqlxBroker::<Postgres>::from_url(url).clock(clock);
    // Without polls the renewal has the connection to itself, and is on its way.
    let hour = Duration::from_secs(3600);
    let service = Service::new("clock").state(script.clone()).with_broker(broker, |b| {
        b.mount(scripted_bare.lease(Duration::from_secs(1)).poll_interval(hour));
    });
    let running = service.start().await.unwrap();
    eventually("the delivery", async || script.seen().len() == 1).await;

    // Its renewal stands still until the lease has run out and another process has the row.
    proxy.freeze();
    let connections = proxy.accepted();
    let over = format!("SELECT count(*) FROM bare_jobs WHERE until <= {NOW}");
    eventually("its lease runs out", async || db.value::<i64>(over.as_str()).await == 1).await;
    db.execute(format!("UPDATE bare_jobs SET until = {NOW} + 3600000000")).await;
    let until: i64 = db.value("SELECT until FROM bare_jobs").await;

    // By this clock the old lease is in force: nobody else could have written the new one.
    shift.store(-60_000_000, Ordering::Relaxed);
    assert_eq!(proxy.accepted(), connections, "the renewal was sent, and waits for no connection");
    proxy.cut(Cut::Reset);
    proxy.unfreeze();
    eventually("the handler is told that it lost its row", async || *told.borrow()).await;
    stays("its ack changes nothing", Duration::from_millis(300), async || {
        db.rows::<(i64,)>("SELECT until FROM bare_jobs").await == [(until,)]
    })
    .await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen().len(), 1);
}
