//! The model is worth something: it finds mistakes that were made on purpose.

use queue_table::__private::lease::IdOn;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;

use super::history::{Plan, run};
use super::mutant::Mutant;
use super::server::Staged;
use super::shape::{Bare, Full, Shape};

conformance![
    it_finds_a_settlement_that_does_not_ask_for_its_token,
    it_finds_a_give_back_that_writes_null,
    it_finds_a_release_of_a_delivery_that_is_unknown,
    it_finds_a_settlement_without_an_answer_that_is_given_up,
    it_finds_a_renewal_that_goes_back_with_the_clock,
];

pub(crate) mod claims {
    use super::*;

    conformance![Postgres: it_finds_a_claim_whose_subquery_can_run_again];

    use queue_table_tests::conformance::Postgres;

    async fn it_finds_a_claim_whose_subquery_can_run_again(db: TestDb<Postgres>) {
        finds::<Postgres, Full>(db, Mutant::InForAny).await;
    }
}

/// Fixed seeds, whatever the environment says: a mutant that gets away is a hole in the model.
async fn finds<DB: Staged, S: Shape>(db: TestDb<DB>, mutant: Mutant)
where
    S::Id: IdOn<DB>,
{
    let plan = Plan { seed: 1, histories: 40, mutant: Some(mutant) };
    let found = run::<DB, S>(&db, plan).await;
    assert!(found.is_some(), "{mutant} is not found in {} histories", plan.histories);
    if let Some(found) = found {
        let last = found.report.lines().filter(|line| line.starts_with("BROKEN"));
        eprintln!("{mutant}: seed {}: {}", found.seed, last.collect::<String>());
    }
}

async fn it_finds_a_settlement_that_does_not_ask_for_its_token<DB: Staged>(db: TestDb<DB>)
where
    String: IdOn<DB>,
{
    finds::<DB, Bare>(db, Mutant::NoToken).await;
}

async fn it_finds_a_give_back_that_writes_null<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    finds::<DB, Full>(db, Mutant::NullToken).await;
}

async fn it_finds_a_release_of_a_delivery_that_is_unknown<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    finds::<DB, Full>(db, Mutant::ReleaseUnknown).await;
}

async fn it_finds_a_settlement_without_an_answer_that_is_given_up<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    finds::<DB, Full>(db, Mutant::ForgetUnknown).await;
}

async fn it_finds_a_renewal_that_goes_back_with_the_clock<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    finds::<DB, Full>(db, Mutant::NoTick).await;
}
