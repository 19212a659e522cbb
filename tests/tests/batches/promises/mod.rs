//! The promises on one kind of database: this folder is compiled once for each. The modules that
//! take their tables from `queue` are compiled for every claim mode.

use queue_table_tests::batches::leases as queue;

use super::Database;
use ground::{broker, left, publish, start};

mod calls;
mod faults;
mod ground;
mod leases;

/// The trials of every module.
pub(crate) fn trials(
    stands: &queue_table_tests::stands::Stands,
) -> Vec<queue_table_tests::conformance::Trial> {
    let modules = [calls::trials(stands), faults::trials(stands), leases::trials(stands)];
    modules.into_iter().flatten().collect()
}
