//! A row that kills its process.

use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::eventually::eventually;
use queue_table_tests::history::{History, Line};
use queue_table_tests::queue::create_tables;

use super::process::{Histories, Process, Settings, fill};

conformance![a_row_that_kills_its_process_takes_no_buffered_neighbour_with_it];

const ROWS: i64 = 400;
const POISON: i64 = 200;
/// What the worker gives each row.
const ATTEMPTS: u32 = 3;

/// One worker, so that every neighbour is in the buffer and none in work.
const SETTINGS: Settings = Settings { workers: 1, lease_ms: 2000, poison: POISON };

async fn a_row_that_kills_its_process_takes_no_buffered_neighbour_with_it<DB: Db>(db: TestDb<DB>) {
    create_tables(&db).await;
    fill(&db, ROWS).await;
    let histories = Histories::new();
    let history = histories.of("all of them");
    let mut counted = Vec::new();
    for death in 1..=ATTEMPTS {
        let process = Process::start(&db, &history, SETTINGS);
        let poisoned = Line { ended: false, id: POISON, attempt: death };
        eventually("the row is started", async || {
            History::read(&history).last() == Some(&poisoned)
        })
        .await;
        // Rows that came to their end are no neighbours any more: their outcomes are written.
        eventually("what ended is settled", async || {
            let ended = History::read(&history).iter().filter(|line| line.ended).count();
            let left: i64 = db.value("SELECT count(*) FROM jobs").await;
            left + i64::try_from(ended).unwrap() == ROWS
        })
        .await;
        process.die().await;
        let claimed = "SELECT count(*) FROM jobs WHERE attempt > 1";
        counted.push(db.value::<i64>(claimed).await);
    }
    assert!(counted[0] > 1, "neighbours were in the buffer: {counted:?}");
    let process = Process::start(&db, &history, SETTINGS);
    let work = "SELECT count(*) FROM jobs WHERE kind = 'work'";
    eventually("only the dead letter is left", async || db.value::<i64>(work).await == 0).await;
    process.stop().await;

    let left: Vec<(i64, String, i64, String)> =
        db.rows("SELECT id, kind, attempt, last_error FROM jobs").await;
    let [(POISON, kind, 1, reason)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(kind, "failed");
    assert!(reason.contains("its process died"), "{reason}");

    let history = histories.read("all of them");
    let of_poison: Vec<_> = history.iter().filter(|line| line.id == POISON).collect();
    let starts: Vec<_> = of_poison.iter().map(|line| (line.ended, line.attempt)).collect();
    assert_eq!(starts, [(false, 1), (false, 2), (false, 3)]);
    for id in (1..=ROWS).filter(|id| *id != POISON) {
        let last = history.iter().rfind(|line| line.id == id).unwrap();
        assert!(last.ended, "row {id} came to its end");
        // Nothing waits beside a row that comes back, so it happened at most the first time.
        assert!(last.attempt <= 2, "row {id} lost {} attempts to its neighbour", last.attempt - 1);
    }
}
