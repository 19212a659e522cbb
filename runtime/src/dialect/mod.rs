//! Descriptor to statements, per database.
//!
//! Pure: a dialect never sees a connection, and whoever runs its statements never asks which
//! database wrote them. A difference between databases is data: a statement that is there or not,
//! arrays or padded rows.

mod dead_letter;
mod insert;
mod lease;
mod names;
mod plan;
mod postgres;
mod row_lock;
mod sqlite;
mod starts;
mod statement;

pub use insert::Insert;
pub use lease::LeaseStatements;
pub use names::Names;
pub use plan::{CopyThenDelete, Plan, Transaction};
pub use postgres::Postgres;
pub use row_lock::RowLockStatements;
pub use sqlite::Sqlite;
pub use starts::Starts;
pub use statement::{Many, Param, RowValue, Statement};

/// Where a claim starts in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimFrom {
    /// At the beginning.
    Start,
    /// After the last row that was claimed: dead rows at the head of the index cost nothing then.
    Watermark,
    /// At the first row that was put off, so that due retries pass a backlog of fresh rows.
    Retries,
}

impl ClaimFrom {
    /// Every start.
    pub const ALL: [Self; 3] = [Self::Start, Self::Watermark, Self::Retries];

    /// The name of the claim.
    const fn claim(self) -> &'static str {
        match self {
            Self::Start => "claim",
            Self::Watermark => "claim_watermark",
            Self::Retries => "claim_retries",
        }
    }

    /// The name of the claim that leaves rows out.
    const fn claim_except(self) -> &'static str {
        match self {
            Self::Start => "claim_except",
            Self::Watermark => "claim_watermark_except",
            Self::Retries => "claim_retries_except",
        }
    }

    /// The name of the statement that reads what the claim would take.
    const fn first(self) -> &'static str {
        match self {
            Self::Start => "first",
            Self::Watermark => "first_watermark",
            Self::Retries => "first_retries",
        }
    }
}

/// The most rows that a claim leaves out.
pub const MAX_LEFT_OUT: usize = 64;

/// What a settlement does to its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Ends the row: deletes it, or marks it as processed.
    Ack,
    /// Returns the row at once.
    Retry,
    /// Returns the row later.
    RetryAfter,
    /// Moves the row to the dead letters.
    DeadLetter,
    /// Returns a row that was never worked on, with its count restored.
    GiveBack,
    /// Returns a row that whoever had it dropped: its delivery counts.
    Release,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 6] =
        [Self::Ack, Self::Retry, Self::RetryAfter, Self::DeadLetter, Self::GiveBack, Self::Release];

    /// The event in one word, as statements and log lines name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Retry => "retry",
            Self::RetryAfter => "retry_after",
            Self::DeadLetter => "dead_letter",
            Self::GiveBack => "give_back",
            Self::Release => "release",
        }
    }
}

/// Whose clock the statements ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The database's.
    #[default]
    Database,
    /// The database's, moved by a bound number of microseconds: for tests.
    Shifted,
}

/// How one database writes each statement. All functions are there for each database, in this order.
pub trait Dialect: Send + Sync + 'static {
    /// A claim returns its rows in the claim's order; else whoever sent it sorts them.
    const ORDERED_CLAIMS: bool;

    /// The catalog is asked with the table's quoted name, which it parses; else with the bare one.
    const CATALOG_PARSES_NAMES: bool;

    /// Whether a column of the catalog is the declared one.
    fn same_name(catalog: &str, declared: &str) -> bool;

    /// Takes rows that are due and free, in the claim's order; `None` where a start is of no use.
    fn claim(&self, table: &Names, from: ClaimFrom) -> Option<Statement>;

    /// The same without the rows of given ids, of which there are up to [`MAX_LEFT_OUT`].
    fn claim_except(&self, table: &Names, from: ClaimFrom) -> Option<Many>;

    /// Takes one row by its id, if it is due and free.
    fn claim_one(&self, table: &Names) -> Option<Statement>;

    /// Reads the ids of the first rows that a claim would take, in the claim's order.
    fn first(&self, table: &Names, from: ClaimFrom) -> Option<Statement>;

    /// Writes one outcome to rows that their deliveries still own, and returns the ids of those.
    /// `None` where the table has no column for the event.
    fn settle(&self, table: &Names, event: Event) -> Option<Many>;

    /// Moves rows that their deliveries still own to the table of the dead letters, and returns the
    /// ids of those.
    fn settle_into(&self, table: &Names, dead: &Names) -> Option<Plan>;

    /// Moves the lease of rows that their deliveries still own, and returns ids and new tokens.
    fn renew(&self, table: &Names) -> Option<Many>;

    /// Tells for each row: its ordinal, its state (0 gone or processed, 1 owned, 2 another token),
    /// whether the delivery's lease is in force (1 or 0), and the lease that it has now.
    fn look(&self, table: &Names) -> Option<Many>;

    /// Locks rows that are due and free for the transaction, in the claim's order, and reads them.
    /// `None` where a start is of no use, or rows cannot be locked.
    fn lock(&self, table: &Names, from: ClaimFrom) -> Option<Statement>;

    /// The same, leaving out rows by their ids.
    fn lock_except(&self, table: &Names, from: ClaimFrom) -> Option<Many>;

    /// Writes an outcome to rows that the transaction has locked, and returns their ids. `None` where
    /// there is nothing to write, or no column for it.
    fn end(&self, table: &Names, event: Event) -> Option<Many>;

    /// Moves rows that the transaction has locked to the table of the dead letters, and returns
    /// their ids.
    fn end_into(&self, table: &Names, dead: &Names) -> Option<Many>;

    /// Lists the names of the table's columns; no row where there is no such table.
    fn columns(&self, table: &Names) -> Statement;

    /// Inserts one row and returns its id.
    fn insert(&self, table: &Names, insert: &Insert) -> Statement;

    /// Inserts `rows` rows and returns their ids in order; also says for how many rows values are
    /// bound. `None` where one statement cannot take so many.
    fn insert_many(
        &self,
        table: &Names,
        insert: &Insert,
        rows: usize,
    ) -> Option<(Statement, usize)>;
}
