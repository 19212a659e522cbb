//! A row as it stands in the table, and what statements ask and say of it.

use queue_table::__private::lease::ClaimFrom;

/// One delivery of one row, of all that a history has.
pub(crate) type Delivery = u64;

/// A row as it stands in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) group: String,
    pub(crate) attempt: i64,
    pub(crate) retry_after: Option<i64>,
    pub(crate) locked_until: Option<i64>,
    pub(crate) processed_at: Option<i64>,
    pub(crate) last_error: String,
}

/// The time of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// What its conditions are compared with.
    pub(crate) start: i64,
    /// What it writes.
    pub(crate) write: i64,
}

/// A claim.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) from: ClaimFrom,
    pub(crate) limit: usize,
    pub(crate) after: Option<(Option<i64>, i64)>,
    /// These rows are left out.
    pub(crate) except: Vec<i64>,
    /// No other row is taken.
    pub(crate) one: Option<i64>,
    pub(crate) lease: i64,
}

/// A row as a claim returned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) n: i64,
    pub(crate) token: i64,
    pub(crate) attempt: i64,
    pub(crate) due: Option<i64>,
}

/// What a statement over many rows says of one of them.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) n: i64,
    pub(crate) delivery: Delivery,
    pub(crate) token: i64,
    /// The count that the claim stored.
    pub(crate) attempt: i64,
    pub(crate) delay: i64,
    pub(crate) reason: Option<String>,
}

/// How a row left the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Acked(Delivery),
    DeadLetter(Delivery),
    Deleted,
}
