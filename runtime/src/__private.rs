//! What generated code and this project's own tests name. Nothing here is promised to anybody.

pub use crate::backend::{Backend, BindResult, Bound, Col, Fault, IdOn, LocksRows, RowOf, TimeOn};
pub use crate::descriptor::{Columns, TableDescriptor};
pub use crate::handler::{
    Arguments, Batch, BothOrNone, BuriedOn, BuriesInGroup, BuriesInTable, Carries, Checked,
    CountsAttempts, Cx, Declaration, Declared, Declaring, DecodeFailure, Decoded, Delays,
    Extractor, Fits, Grave, Grouped, Identified, InTable, IntoOutcome, IntoOutcomes, Is, IsRowOf,
    KindOf, Leased, Lent, Mark, Marked, MessageOf, Meta, Needs, Outcome, Outcomes, PoolOf,
    QueueTable, RowItself, Rows, Running, SameId, Set, Shared, Signature, Subscribed, TableOn,
    Takes, TakesBatches, TakesDeadLetters, Tie, Tied, TiedTo, Ungrouped, Unset, Whole, at, counted,
    grouped, in_group, in_table, leased, of, outcome, outcome_or, outcomes, outcomes_or,
    retry_after, run, table, ungrouped,
};
pub use crate::publish::Field;

/// The state machine of lease deliveries and the statements that move it, for the model test.
pub mod lease {
    pub use crate::backend::{HostClock, IdOn, PayloadValue, RowsOf, Values, arguments};
    pub use crate::claim::{Batch, Claimed, Key, Ledger, Renewal, Verdict, Work};
    pub use crate::dialect::{
        ClaimFrom, Clock, CopyThenDelete, Dialect, Event, Insert, LeaseStatements, MAX_LEFT_OUT,
        Many, Names, Param, Plan, Postgres, RowLockStatements, RowValue, Sqlite, Starts, Statement,
        Transaction,
    };
    pub use crate::handler::Taken;
    pub use crate::settle::{Found, Settlement};
}
