//! A service for tests to send signals to: `signal-worker KIND URL` works on `jobs` for ever, each
//! row for ever, and gives its handlers an hour to come to an end.
#![allow(clippy::unwrap_used, reason = "whoever started it sees it fail")]

use std::env;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::queue::{Script, scripted};
use sqlx::{Postgres, Sqlite};

#[tokio::main]
async fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [kind, url] = &arguments[..] else {
        unreachable!("the tests give two arguments: {arguments:?}")
    };
    let script = Script::new(async |_| std::future::pending().await);
    let hour = Duration::from_secs(3600);
    let service = Service::new("to be told").state(script).drain_timeout(hour);
    let service = match kind.as_str() {
        "postgres" => service.with_broker(SqlxBroker::<Postgres>::from_url(url), |b| {
            b.mount(scripted);
        }),
        _ => service.with_broker(SqlxBroker::<Sqlite>::from_url(url), |b| b.mount(scripted)),
    };
    service.run().await.unwrap();
}
