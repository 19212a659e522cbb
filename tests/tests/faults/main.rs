//! Faults: rows that cannot be written, and a network and a server that fail.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod answers;
mod clock;
mod expired;
mod gate;
mod locked;
mod login;
mod network;
mod on_postgres;
mod on_sqlite;
mod pool;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        let trials = [
            network::trials(on),
            answers::trials(on),
            clock::trials(on),
            expired::trials(on),
            locked::trials(on),
            login::trials(on),
            pool::trials(on),
            on_postgres::meaning::trials(on),
            on_postgres::rows::trials(on),
            on_postgres::outside::trials(on),
            on_sqlite::busy::trials(on),
            on_sqlite::meaning::trials(on),
            on_sqlite::rows::trials(on),
            on_sqlite::outside::trials(on),
        ];
        trials.into_iter().flatten().collect()
    })
}
