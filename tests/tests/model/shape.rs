//! The tables of the model test: what roles they have, and what their columns are called.

use queue_table::descriptor::{RowId, TimeForm};
use queue_table::prelude::*;
use queue_table_tests::queue::{BareJob, Job, KeptJob};

/// The group that the processes of a history work on.
pub(crate) const WORK: &str = "work";
/// Where its dead letters go.
pub(crate) const DEAD: &str = "dead";

/// A column that puts rows off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delay {
    pub(crate) name: &'static str,
    pub(crate) nullable: bool,
}

/// The columns of a table. Names are plain words, so that they need no quotes here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) table: &'static str,
    pub(crate) lease: &'static str,
    pub(crate) form: TimeForm,
    pub(crate) group: Option<&'static str>,
    pub(crate) attempt: Option<&'static str>,
    pub(crate) delay: Option<Delay>,
    pub(crate) processed_at: Option<&'static str>,
    pub(crate) last_error: Option<&'static str>,
    pub(crate) has_payload: bool,
}

/// A table whose rows have numbers.
pub(crate) trait Shape: 'static {
    type Id: RowId;
    type Table: QueueTable<Id = Self::Id>;
    const COLUMNS: Columns;

    /// The primary key of a row. It sorts as the number does.
    fn id(n: i64) -> Self::Id;
    /// The number of a row.
    fn n(id: &Self::Id) -> i64;
}

/// Every role, times of the database's own, a nullable delay, and done rows are deleted.
#[derive(Debug)]
pub(crate) struct Full;

impl Shape for Full {
    type Id = i64;
    type Table = Job;
    const COLUMNS: Columns = Columns {
        table: "jobs",
        lease: "locked_until",
        form: TimeForm::Native,
        group: Some("kind"),
        attempt: Some("attempt"),
        delay: Some(Delay { name: "retry_after", nullable: true }),
        processed_at: None,
        last_error: Some("last_error"),
        has_payload: true,
    };

    fn id(n: i64) -> i64 {
        n
    }

    fn n(id: &i64) -> i64 {
        *id
    }
}

/// Times in microseconds, a delay that is never null, and done rows stay.
#[derive(Debug)]
pub(crate) struct Kept;

impl Shape for Kept {
    type Id = i64;
    type Table = KeptJob;
    const COLUMNS: Columns = Columns {
        table: "kept_jobs",
        lease: "until",
        form: TimeForm::Micros,
        group: Some("kind"),
        attempt: Some("attempt"),
        delay: Some(Delay { name: "due", nullable: false }),
        processed_at: Some("done"),
        last_error: None,
        has_payload: false,
    };

    fn id(n: i64) -> i64 {
        n
    }

    fn n(id: &i64) -> i64 {
        *id
    }
}

/// The fewest roles: the token alone says who owns a row.
#[derive(Debug)]
pub(crate) struct Bare;

impl Shape for Bare {
    type Id = String;
    type Table = BareJob;
    const COLUMNS: Columns = Columns {
        table: "bare_jobs",
        lease: "until",
        form: TimeForm::Micros,
        group: None,
        attempt: None,
        delay: None,
        processed_at: None,
        last_error: None,
        has_payload: true,
    };

    fn id(n: i64) -> String {
        format!("row-{n:06}")
    }

    fn n(id: &String) -> i64 {
        id.trim_start_matches("row-").parse().unwrap_or(-1)
    }
}
