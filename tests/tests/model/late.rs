//! A history that luck finds too rarely: an ack that commits after it was sent again.

use queue_table::__private::lease::{ClaimFrom, Event, IdOn};
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;

use super::history::follow;
use super::server::Staged;
use super::shape::{Full, Kept};
use super::step::{LAST, Step, Which};

conformance![
    an_ack_that_deletes_its_row_late_is_done,
    an_ack_that_keeps_its_row_and_commits_late_is_done,
];

const PROCESS: usize = 0;

const HISTORY: [Step; 9] = [
    Step::Insert { rows: 1, delay: None },
    Step::Claim { process: PROCESS, from: ClaimFrom::Start, limit: 1, which: Which::All },
    Step::Go { pick: LAST },
    Step::Start { process: PROCESS },
    Step::Finish { process: PROCESS, pick: 0, event: Event::Ack, delay: 0 },
    Step::Settle { process: PROCESS },
    Step::Lose { pick: LAST, late: true },
    // It has not run, so it is sent again; then it runs, and the second one finds no row.
    Step::Answer { pick: LAST },
    Step::Run { pick: 0 },
];

async fn an_ack_that_deletes_its_row_late_is_done<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    follow::<DB, Full>(&db, &HISTORY).await;
}

async fn an_ack_that_keeps_its_row_and_commits_late_is_done<DB: Staged>(db: TestDb<DB>)
where
    i64: IdOn<DB>,
{
    follow::<DB, Kept>(&db, &HISTORY).await;
}
