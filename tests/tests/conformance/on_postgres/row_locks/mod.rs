//! The promises on tables whose rows are locked while they are in work: those that every mode
//! makes, and those of row locks.
#![allow(clippy::duplicate_mod, reason = "the same tests in another claim mode")]

use queue_table_tests::row_lock as queue;

use super::Database;
use ground::{broker, publish, start};

#[path = "../../promises/attempts.rs"]
mod attempts;
mod columns;
mod dead_letters;
#[path = "../../promises/decoding.rs"]
mod decoding;
#[path = "../../promises/ground.rs"]
mod ground;
#[path = "../../promises/handlers.rs"]
mod handlers;
#[path = "../../promises/outcomes.rs"]
mod outcomes;
#[path = "../../promises/publishing.rs"]
mod publishing;
#[path = "../../promises/services.rs"]
mod services;
mod settings;
mod transactions;
mod trips;
#[path = "../../promises/waking.rs"]
mod waking;

/// The trials of every module.
pub(crate) fn trials(
    stands: &queue_table_tests::stands::Stands,
) -> Vec<queue_table_tests::conformance::Trial> {
    let modules = [
        attempts::trials(stands),
        columns::trials(stands),
        dead_letters::trials(stands),
        decoding::trials(stands),
        handlers::trials(stands),
        outcomes::trials(stands),
        publishing::trials(stands),
        services::trials(stands),
        settings::trials(stands),
        transactions::trials(stands),
        trips::trials(stands),
        waking::trials(stands),
    ];
    modules.into_iter().flatten().collect()
}
