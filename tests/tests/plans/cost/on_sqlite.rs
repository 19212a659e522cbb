//! On a million rows every statement still finds its rows by an index.

use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::plans::sqlite;
use sqlx::Sqlite;

const MANY_ROWS: u64 = 1_000_000;

conformance![Sqlite: a_million_rows_are_searched_and_neither_scanned_nor_sorted];

async fn a_million_rows_are_searched_and_neither_scanned_nor_sorted(db: TestDb<Sqlite>) {
    let measured = sqlite::measure(db.url(), MANY_ROWS).await;
    for (state, cost) in
        measured.iter().flat_map(|(state, costs)| costs.iter().map(move |it| (state, it)))
    {
        let what = format!("{}: {}", state.describe(MANY_ROWS), cost.statement);
        let plan = cost.plan.join("\n");
        let wanted: &[_] = match cost.statement {
            "claim" => &[
                "SEARCH c USING INDEX jobs_ready (kind=? AND <expr><?)",
                "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
            ],
            _ => &["SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"],
        };
        for step in wanted {
            assert!(plan.contains(step), "{what} without {step}\n{plan}");
        }
        for step in ["SCAN j", "SCAN c", "SCAN jobs", "TEMP B-TREE"] {
            assert!(!plan.contains(step), "{what} with {step}\n{plan}");
        }
    }
}
