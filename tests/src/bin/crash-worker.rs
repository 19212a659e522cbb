//! A process for tests to kill: it works on `jobs` and writes down what its handlers see.
//!
//! `crash-worker KIND URL HISTORY WORKERS LEASE_MS POISON`; it drains and ends when its standard
//! input does. The row POISON aborts it as soon as there is something to read. A row has three
//! deliveries.
#![allow(clippy::unwrap_used, reason = "whoever started it sees it fail")]

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use queue_table::prelude::*;
use queue_table_tests::history::{History, Line};
use queue_table_tests::queue::{Script, scripted};
use sqlx::{Postgres, Sqlite};
use tokio::io::AsyncReadExt;

#[tokio::main]
async fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [kind, url, history, workers, lease, poison] = &arguments[..] else {
        unreachable!("the tests give six arguments: {arguments:?}")
    };
    let workers = workers.parse().unwrap();
    let lease = Duration::from_millis(lease.parse().unwrap());
    let told = CancellationToken::new();
    let script = witness(Path::new(history), poison.parse().unwrap(), &told);
    let subscriber =
        scripted.workers(workers).lease(lease).max_attempts(3).dead_letter_group("failed");
    let service = Service::new("to be killed").state(script);
    let service = match kind.as_str() {
        "postgres" => service.with_broker(SqlxBroker::<Postgres>::from_url(url), |b| {
            b.mount(subscriber);
        }),
        _ => service.with_broker(SqlxBroker::<Sqlite>::from_url(url), |b| {
            b.mount(subscriber);
        }),
    };
    let mut running = service.start().await.unwrap();
    let mut input = tokio::io::stdin();
    loop {
        tokio::select! {
            ended = running.stopped() => return ended.unwrap(),
            read = input.read_u8() => match read {
                Ok(_) => told.cancel(),
                Err(_) => break,
            }
        }
    }
    running.shutdown().await.unwrap();
}

/// Writes down the start and the end of each delivery, and dies of the poisoned row.
fn witness(history: &Path, poison: i64, told: &CancellationToken) -> Script {
    let history = Arc::new(History::append(history));
    let told = told.clone();
    Script::new(move |seen| {
        let (history, told) = (Arc::clone(&history), told.clone());
        async move {
            let line = Line { ended: false, id: seen.n, attempt: seen.attempt };
            history.write(line);
            if seen.n == poison {
                told.cancelled().await;
                std::process::abort();
            }
            tokio::task::yield_now().await;
            history.write(Line { ended: true, ..line });
            Outcome::ack()
        }
    })
}
