//! Which way the databases take to the rows of each statement, and what it costs on large tables.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod cost;
mod explained;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        let trials = [
            explained::on_postgres::trials(on),
            explained::on_sqlite::trials(on),
            cost::on_postgres::trials(on),
            cost::on_sqlite::trials(on),
        ];
        trials.into_iter().flatten().collect()
    })
}
