//! Rows that cannot be written, on one kind of database: this folder is compiled once for each.

use queue_table_tests::conformance::Trial;
use queue_table_tests::stands::Stands;

mod refused;
mod stale;
mod unrenewed;

/// The trials of every module.
pub(crate) fn trials(stands: &Stands) -> Vec<Trial> {
    let trials = [refused::trials(stands), stale::trials(stands), unrenewed::trials(stands)];
    trials.into_iter().flatten().collect()
}
