//! What statements cost on large tables: the states of a queue that a plan must not suffer from.
//!
//! One code for the tests, which compare, and for the program `measure_plans`, which prints.

pub mod postgres;
mod report;
pub mod sqlite;

use crate::shapes::{Shape, shape};

use report::grouped;
pub use report::report;

/// The number of rows that every other number is compared with.
pub const FEW_ROWS: u64 = 10_000;

/// The group of the rows.
const GROUP: &str = "work";

/// Microseconds.
const LEASE: i64 = 30_000_000;

/// The rows of a group statement.
const MANY: usize = 500;

/// What a table holds beside the rows that are claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All rows are due.
    Pending,
    /// Somebody else works on the first 5000 rows.
    Leased,
    /// The first twentieth of the rows was put off.
    Delayed,
    /// Of what was due then, the first 3 % of all rows were deleted, and somebody still sees them.
    OldSnapshot,
    /// All rows are done, and 1000 more are due.
    Processed,
}

impl State {
    /// The shape of its table.
    #[must_use]
    pub fn shape(self) -> Shape {
        shape(if self == Self::Processed { "every_role" } else { "deletes" })
    }

    /// The first and the last id of what no claim can take. A table comes from one state into the
    /// next, so what was put off before is still there when others are deleted.
    #[must_use]
    pub const fn dead(self, rows: u64) -> (u64, u64) {
        match self {
            Self::Pending => (1, 0),
            Self::Leased => (1, 5000),
            Self::Delayed => (1, rows / 20),
            Self::OldSnapshot => (rows / 20 + 1, rows / 20 + rows * 3 / 100),
            Self::Processed => (1, rows),
        }
    }

    /// In words, for a table of so many rows.
    #[must_use]
    pub fn describe(self, rows: u64) -> String {
        let (first, last) = self.dead(rows);
        let dead = grouped(last + 1 - first);
        match self {
            Self::Pending => "all pending".to_owned(),
            Self::Leased => format!("{dead} leased at the head"),
            Self::Delayed => format!("{dead} delayed"),
            Self::OldSnapshot => format!("{dead} deleted at the head, an old snapshot open"),
            Self::Processed => format!("{dead} processed, 1 000 pending"),
        }
    }
}

/// What one statement cost.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The statement's name.
    pub statement: &'static str,
    /// How many rows it took.
    pub rows: usize,
    /// The pages that it touched; a database that does not count them has none.
    pub buffers: Option<u64>,
    /// The quickest of its runs.
    pub ms: f64,
    /// Its plan, a line for each step, where the database gives it as text.
    pub plan: Vec<String>,
}

impl Cost {
    /// Whether it starts at the head of the order, and so reads what an old snapshot keeps there.
    #[must_use]
    pub fn reads_the_head(&self) -> bool {
        self.statement == "claim"
    }
}
