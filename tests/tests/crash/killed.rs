//! A process is killed with rows in its hands, and another one goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually_within;
use queue_table_tests::history::Line;
use queue_table_tests::queue::create_tables;
use queue_table_tests::stands::Kind;

use super::process::{Histories, Process, Settings, fill};

conformance![each_row_is_settled_once_or_run_again_after_its_process_was_killed];

const ROWS: i64 = 20_000;

const WORKERS: usize = 8;

/// Longer than a loaded machine takes for all rows.
const LIMIT: Duration = Duration::from_secs(100);

async fn each_row_is_settled_once_or_run_again_after_its_process_was_killed<DB: Db>(
    db: TestDb<DB>,
) {
    create_tables(&db).await;
    fill(&db, ROWS).await;
    let histories = Histories::new();
    // SQLite is not fair: of two processes that write all the time one may wait for seconds.
    let lease_ms = if DB::KIND == Kind::Sqlite { 10_000 } else { 2000 };
    let settings = Settings { workers: WORKERS, lease_ms, poison: 0 };
    let killed = Process::start(&db, &histories.of("killed"), settings);
    let survivor = Process::start(&db, &histories.of("survivor"), settings);
    let left = async || db.value::<i64>("SELECT count(*) FROM jobs").await;
    eventually_within(LIMIT, "half of the rows are left", async || left().await <= ROWS / 2).await;
    killed.kill(&db).await;
    // A claimed row has counted its delivery. What the killed process had is among them.
    let claimed: BTreeSet<i64> = db
        .rows::<(i64,)>("SELECT id FROM jobs WHERE attempt > 1")
        .await
        .into_iter()
        .map(|(id,)| id)
        .collect();
    eventually_within(LIMIT, "no row is left", async || left().await == 0).await;
    survivor.stop().await;
    check(&histories.read("killed"), &histories.read("survivor"), &claimed);
}

/// The deliveries of a history: whether each came to its end.
fn deliveries(history: &[Line]) -> BTreeMap<(i64, u32), bool> {
    let mut deliveries = BTreeMap::new();
    for Line { ended, id, attempt } in history {
        let before = deliveries.insert((*id, *attempt), *ended);
        assert_eq!(before, ended.then_some(false), "delivery {attempt} of row {id} is there twice");
    }
    deliveries
}

fn check(killed: &[Line], survivor: &[Line], claimed: &BTreeSet<i64>) {
    let (killed, survivor) = (deliveries(killed), deliveries(survivor));
    assert!(!killed.is_empty(), "the killed process had rows");
    let of_row = |process: &BTreeMap<(i64, u32), bool>, id| -> Vec<(u32, bool)> {
        let its = process.range((id, 0)..=(id, u32::MAX));
        its.map(|((_, attempt), ended)| (*attempt, *ended)).collect()
    };
    let mut again = 0;
    for id in 1..=ROWS {
        match (&of_row(&killed, id)[..], &of_row(&survivor, id)[..]) {
            // Settled once, by one of the two.
            ([(1, true)], []) | ([], [(1, true)]) => {}
            // The killed process had it, started or in its buffer, and did not settle it.
            ([] | [(1, _)], [(2, true)]) => {
                assert!(claimed.contains(&id), "row {id} was not claimed when its process died");
                again += 1;
            }
            (killed, survivor) => panic!(
                "row {id}: the killed process ran it as {killed:?}, the survivor as {survivor:?}"
            ),
        }
    }
    assert!(again > 0, "the killed process had no row in its hands, so this proves nothing");
}
