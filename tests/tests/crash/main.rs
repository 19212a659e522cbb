//! Processes that die: what becomes of the rows that they had, by the histories of their handlers.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod killed;
mod poison;
mod process;
mod signals;
mod start;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| {
        [killed::trials(on), poison::trials(on), signals::trials(on), start::trials(on)]
            .into_iter()
            .flatten()
            .collect()
    })
}
