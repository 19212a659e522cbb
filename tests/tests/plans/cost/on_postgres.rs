//! A statement on a million rows touches about as many pages as on ten thousand.

use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::plans::{FEW_ROWS, State, postgres};
use sqlx::Postgres;

const MANY_ROWS: u64 = 1_000_000;

/// The trees of a larger table are a level or two deeper.
const FACTOR: u64 = 3;

conformance![Postgres: a_million_rows_cost_as_much_as_ten_thousand];

async fn a_million_rows_cost_as_much_as_ten_thousand(db: TestDb<Postgres>) {
    let mut wrong = Vec::new();
    let few = postgres::measure(db.url(), FEW_ROWS).await;
    let many = postgres::measure(db.url(), MANY_ROWS).await;
    for ((_, few), (state, many)) in few.iter().zip(&many) {
        for (few, many) in few.iter().zip(many) {
            // Nothing but the watermark passes row versions that nobody may remove.
            if *state == State::OldSnapshot && many.reads_the_head() {
                continue;
            }
            if many.buffers > few.buffers.map(|buffers| buffers * FACTOR) {
                wrong.push(format!(
                    "{}: {} of {} rows: {:?} buffers, on {FEW_ROWS} rows {:?}\n{}",
                    state.describe(MANY_ROWS),
                    many.statement,
                    many.rows,
                    many.buffers,
                    few.buffers,
                    many.plan.join("\n"),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
