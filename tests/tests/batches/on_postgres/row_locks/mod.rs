//! The promises on tables whose rows are locked while they are in work.
#![allow(clippy::duplicate_mod, reason = "the same tests in another claim mode")]

use queue_table_tests::batches::row_locks as queue;

use super::Database;
use ground::{broker, left, publish, start};

#[path = "../../promises/calls.rs"]
mod calls;
#[path = "../../promises/faults.rs"]
mod faults;
#[path = "../../promises/ground.rs"]
mod ground;
mod transactions;

/// The trials of every module.
pub(crate) fn trials(
    stands: &queue_table_tests::stands::Stands,
) -> Vec<queue_table_tests::conformance::Trial> {
    let modules = [calls::trials(stands), faults::trials(stands), transactions::trials(stands)];
    modules.into_iter().flatten().collect()
}
