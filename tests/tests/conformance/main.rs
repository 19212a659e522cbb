//! What the queue promises, on every database that is there.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod on_postgres;
mod on_sqlite;
mod stands;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        let trials = [
            stands::trials(on),
            on_postgres::promises::trials(on),
            on_postgres::hands::trials(on),
            on_postgres::idling::trials(on),
            on_postgres::refusing::trials(on),
            on_postgres::row_locks::trials(on),
            on_postgres::times::trials(on),
            on_sqlite::promises::trials(on),
            on_sqlite::oddities::trials(on),
        ];
        trials.into_iter().flatten().collect()
    })
}
