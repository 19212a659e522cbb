//! What the queue promises, on every database that is there.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::process::ExitCode;

mod stands;

fn main() -> ExitCode {
    queue_table_tests::conformance::run(|on| [stands::trials(on)].into_iter().flatten().collect())
}
