//! A start that is told to stop.

use std::time::Duration;

use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use queue_table_tests::proxy::Proxy;
use sqlx::Postgres;
use tokio::time::timeout;

use super::signals::{service, signal};

conformance![Postgres: a_signal_ends_a_start_that_waits_for_its_server];

async fn a_signal_ends_a_start_that_waits_for_its_server(db: TestDb<Postgres>) {
    let (proxy, url) = Proxy::before(db.url()).await;
    proxy.freeze();
    for name in ["-TERM", "-INT"] {
        let before = proxy.accepted();
        let mut service = service::<Postgres>(&url);
        eventually("it waits for an answer", async || proxy.accepted() > before).await;
        signal(&service, name).await;
        // Half of what it would wait for the server.
        let status = timeout(Duration::from_secs(6), service.wait()).await;
        let status = status.expect("it does not wait for the server").unwrap();
        assert!(status.success(), "{name}: {status}");
    }
}
