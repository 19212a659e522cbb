//! Rows that cannot be written, on one kind of database: this folder is compiled once for each.

use queue_table_tests::conformance::Trial;
use queue_table_tests::stands::Stands;

mod refused;
mod stale;

/// The trials of every module.
pub(crate) fn trials(stands: &Stands) -> Vec<Trial> {
    [refused::trials(stands), stale::trials(stands)].into_iter().flatten().collect()
}
