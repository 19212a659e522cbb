//! Random histories of leases, each step against a model of what the table must hold.
//!
//! Processes with the engine's own state machine share one real table; the statements are the
//! engine's own, and the clock is moved by the history.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod histories;
mod history;
mod late;
mod mutant;
mod mutants;
mod process;
mod row;
mod server;
mod shape;
mod step;
mod table;
mod world;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        let trials = [
            histories::trials(on),
            late::trials(on),
            mutants::trials(on),
            mutants::claims::trials(on),
        ];
        trials.into_iter().flatten().collect()
    })
}
