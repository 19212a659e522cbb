//! Rules about time that need no server: a test moves the clock, or says how long something took.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use queue_table::__private::lease::{Claimed, Event, Ledger, Settlement};
use queue_table::descriptor::TimeForm;
use queue_table::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_an_error_after_twelve_seconds() {
    // The system accepts the connection, and nobody here ever answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://me@{}/db", silent.local_addr().unwrap());
    let start = tokio::time::Instant::now();
    let connect = SqlxBroker::<sqlx::Postgres>::from_url(url).connect();
    let connected = tokio::time::timeout(Duration::from_secs(60), connect).await;
    let waited = start.elapsed();
    let error = connected.expect("without a limit it would wait for ever").unwrap_err();
    assert!(waited.abs_diff(Duration::from_secs(12)).as_millis() < 100, "{waited:?}");
    let SqlxBrokerError::Connect(sqlx::Error::Io(cause)) = error else { panic!("{error:?}") };
    assert_eq!(cause.kind(), io::ErrorKind::TimedOut);
}

/// Lets a handler work on a row for some time.
fn work(ledger: &mut Ledger<i64, ()>, took: Option<Duration>) -> Duration {
    let now = Instant::now();
    ledger.claimed(Claimed { id: 1, token: 1, attempt: 1, row: () }, now + Duration::from_secs(60));
    let key = ledger.start(now).unwrap().key;
    ledger.finish(key, Settlement::new(Event::Ack), took);
    ledger.handler_time()
}

#[test]
fn the_first_handler_time_counts_whole_and_later_ones_are_averaged() {
    let mut ledger = Ledger::new(TimeForm::Micros, true);
    assert_eq!(ledger.handler_time(), Duration::ZERO, "nothing is known");
    let ms = Duration::from_millis;
    assert_eq!(work(&mut ledger, None), Duration::ZERO, "a handler that was aborted says nothing");
    assert_eq!(work(&mut ledger, Some(ms(800))), ms(800));
    assert_eq!(work(&mut ledger, Some(ms(0))), ms(700));
    assert_eq!(work(&mut ledger, Some(ms(1500))), ms(800));
    assert_eq!(work(&mut ledger, None), ms(800));
    // A change shows within some tens of rows, and not with the first.
    let times: Vec<_> = (0..30).map(|_| work(&mut ledger, Some(ms(0)))).collect();
    assert!(times[0] > ms(600) && times[29] < ms(20), "{times:?}");
}
