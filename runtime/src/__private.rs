//! What generated code and this project's own tests name. Nothing here is promised to anybody.

pub use crate::backend::{BindResult, Bound, Fault};
pub use crate::handler::{
    BothOrNone, Carries, CountsAttempts, Cx, Declaration, Declared, Delays, Grouped, Needs,
    Outcomes, RowItself, Run, Set, Subscribed, Takes, Ungrouped, Unset, outcome, outcome_or,
};

/// The state machine of lease deliveries and the statements that move it, for the model test.
pub mod lease {
    pub use crate::backend::{HostClock, IdOn, PayloadValue, RowsOf, Values, arguments};
    pub use crate::claim::{Batch, Claimed, Key, Ledger, Renewal, Verdict, Work};
    pub use crate::dialect::{
        ClaimFrom, Clock, Dialect, Event, Insert, LeaseStatements, MAX_LEFT_OUT, Many, Names,
        Param, Postgres, RowLockStatements, RowValue, Sqlite, Starts, Statement,
    };
    pub use crate::handler::Taken;
    pub use crate::settle::{Found, Settlement};
}
