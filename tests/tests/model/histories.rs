//! Random histories keep every promise, on every shape of table.

use queue_table::__private::lease::IdOn;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;

use super::history::{Plan, run};
use super::server::Staged;
use super::shape::{Bare, Full, Kept, Shape};

conformance![
    a_table_with_every_role_keeps_its_promises,
    a_table_that_keeps_done_rows_keeps_its_promises,
    a_table_without_a_count_keeps_its_promises,
];

async fn keeps_its_promises<DB: Staged, S: Shape>(db: TestDb<DB>)
where
    S::Id: IdOn<DB>,
{
    if let Some(finding) = run::<DB, S>(&db, Plan::of_environment()).await {
        panic!("{}", finding.report);
    }
}

async fn a_table_with_every_role_keeps_its_promises<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    keeps_its_promises::<DB, Full>(db).await;
}

async fn a_table_that_keeps_done_rows_keeps_its_promises<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    keeps_its_promises::<DB, Kept>(db).await;
}

async fn a_table_without_a_count_keeps_its_promises<DB: Staged>(db: TestDb<DB>)
where
    String: IdOn<DB>,
{
    keeps_its_promises::<DB, Bare>(db).await;
}
