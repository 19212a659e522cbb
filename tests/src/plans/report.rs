//! The measured costs as a table.

use std::fmt::Write as _;

use super::{Cost, FEW_ROWS, State};

type Measured = [(State, Vec<Cost>)];

/// A Markdown table: a line for each statement in each state, on few rows and on many.
#[must_use]
pub fn report(rows: u64, few: &Measured, many: &Measured) -> String {
    let counts = few.iter().flat_map(|(_, costs)| costs).any(|cost| cost.buffers.is_some());
    let unit = if counts { "buffers / ms" } else { "ms" };
    let mut table = format!(
        "| state of the {} rows | statement | {unit} | on {} rows |\n|---|---|---|---|\n",
        grouped(rows),
        grouped(FEW_ROWS),
    );
    for ((_, few), (state, many)) in few.iter().zip(many) {
        let mut state = state.describe(rows);
        for (few, many) in few.iter().zip(many) {
            let statement = format!("{} {}", many.statement, many.rows);
            let _ = writeln!(table, "| {state} | {statement} | {} | {} |", cell(many), cell(few));
            state.clear();
        }
    }
    table
}

fn cell(cost: &Cost) -> String {
    match cost.buffers {
        Some(buffers) => format!("{buffers} / {:.2}", cost.ms),
        None => format!("{:.2}", cost.ms),
    }
}

/// `10 000 000`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_named_in_its_first_line_only() {
        let cost =
            |rows, ms| Cost { statement: "claim", rows, buffers: Some(12), ms, plan: vec![] };
        let few = vec![cost(1, 0.05), cost(500, 2.0)];
        let many = vec![cost(1, 0.06), cost(500, 3.0)];
        let table = report(10_000_000, &[(State::Delayed, few)], &[(State::Delayed, many)]);
        assert_eq!(
            table,
            "| state of the 10 000 000 rows | statement | buffers / ms | on 10 000 rows |\n\
             |---|---|---|---|\n\
             | 500 000 delayed | claim 1 | 12 / 0.06 | 12 / 0.05 |\n\
             |  | claim 500 | 12 / 3.00 | 12 / 2.00 |\n"
        );
    }
}
