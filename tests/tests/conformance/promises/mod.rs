//! The promises on one kind of database: this folder is compiled once for each. The modules that
//! take their tables from `queue` are compiled for every claim mode.

use queue_table_tests::queue;

use super::Database;
use ground::{broker, publish, start};

mod attempts;
mod brokers;
mod dead_letters;
mod declarations;
mod decoding;
mod extracting;
mod ground;
mod handlers;
mod leases;
mod outcomes;
mod publishing;
mod refused_claims;
mod refused_dead_letters;
mod services;
mod streams;
mod suppressed;
mod uuids;
mod waking;

/// The trials of every module.
pub(crate) fn trials(
    stands: &queue_table_tests::stands::Stands,
) -> Vec<queue_table_tests::conformance::Trial> {
    let modules = [
        attempts::trials(stands),
        brokers::trials(stands),
        declarations::trials(stands),
        dead_letters::trials(stands),
        decoding::trials(stands),
        extracting::trials(stands),
        handlers::trials(stands),
        leases::trials(stands),
        outcomes::trials(stands),
        publishing::trials(stands),
        refused_claims::trials(stands),
        refused_dead_letters::trials(stands),
        services::trials(stands),
        streams::trials(stands),
        suppressed::trials(stands),
        uuids::trials(stands),
        waking::trials(stands),
    ];
    modules.into_iter().flatten().collect()
}
