//! Handlers of batches, in every claim mode of every database that is there.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod on_postgres;
mod on_sqlite;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        let trials = [
            on_postgres::promises::trials(on),
            on_postgres::row_locks::trials(on),
            on_sqlite::promises::trials(on),
        ];
        trials.into_iter().flatten().collect()
    })
}
