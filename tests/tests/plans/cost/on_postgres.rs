//! A statement on a million rows touches about as many pages as on ten thousand.

use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::plans::{Cost, FEW_ROWS, State, postgres};
use sqlx::Postgres;

const MANY_ROWS: u64 = 1_000_000;

/// The trees of a larger table are a level or two deeper.
const FACTOR: u64 = 3;

conformance![
    Postgres: a_million_rows_cost_as_much_as_ten_thousand,
    a_plan_that_was_made_while_the_queue_was_empty_stays_good,
    a_claim_that_leaves_rows_out_costs_as_much_as_another,
];

async fn a_million_rows_cost_as_much_as_ten_thousand(db: TestDb<Postgres>) {
    let few = postgres::measure(db.url(), FEW_ROWS).await;
    let many = postgres::measure(db.url(), MANY_ROWS).await;
    let mut wrong = Vec::new();
    for ((_, few), (state, many)) in few.iter().zip(&many) {
        // Nothing but the watermark passes row versions that nobody may remove.
        let promised = |cost: &&Cost| *state != State::OldSnapshot || !cost.reads_the_head();
        let compared = few.iter().zip(many).filter(|(_, many)| promised(many));
        wrong.extend(
            compared.filter_map(|(few, many)| dearer(&state.describe(MANY_ROWS), many, few)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Drivers keep the plans of their statements, and a queue is empty most of the time.
async fn a_plan_that_was_made_while_the_queue_was_empty_stays_good(db: TestDb<Postgres>) {
    let (kept, made) = postgres::measure_kept(db.url(), 10 * FEW_ROWS).await;
    let compared = kept.iter().zip(&made);
    let wrong: Vec<_> =
        compared.filter_map(|(kept, made)| dearer("with a kept plan", kept, made)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn a_claim_that_leaves_rows_out_costs_as_much_as_another(db: TestDb<Postgres>) {
    let [claim, except] = postgres::measure_left_out(db.url(), 10 * FEW_ROWS).await;
    assert_eq!(dearer("with rows left out", &except, &claim), None);
}

fn dearer(what: &str, cost: &Cost, than: &Cost) -> Option<String> {
    let Cost { statement, rows, buffers, plan, .. } = cost;
    (*buffers > than.buffers.map(|buffers| buffers * FACTOR)).then(|| {
        format!(
            "{what}: {statement} of {rows} rows: {buffers:?} buffers instead of {:?}\n{}",
            than.buffers,
            plan.join("\n"),
        )
    })
}
