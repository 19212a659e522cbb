//! The cancellation sweep: every public future is dropped at every point of its way.
//!
//! A future is polled n times and dropped, for each n until it is ready; on pools of one and of two
//! connections, next to the server and behind a slow network. After each drop no session is inside
//! a transaction, no slot of a pool is lost, and every row can be claimed.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod control;
mod on_postgres;
mod on_sqlite;
mod point;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        let trials =
            [control::trials(on), on_postgres::cases::trials(on), on_sqlite::cases::trials(on)];
        trials.into_iter().flatten().collect()
    })
}
