//! Handlers: what they take, what they return, how they are mounted.

mod arguments;
mod batch;
mod checked;
mod cx;
mod dead_letter;
mod declaration;
mod extract;
mod message;
mod mount;
mod outcome;
mod outcomes;
mod subscriber;
mod table;

pub use arguments::{Arguments, Decoded, IsRowOf, Lent, Signature, Whole};
pub use batch::{Batch, Rows, TakesBatches};
pub(crate) use checked::Of;
pub use checked::{Checked, Is, table};
pub(crate) use cx::id;
pub use cx::{Cx, Meta, Taken};
pub(crate) use dead_letter::DeadLetter;
pub use dead_letter::{
    BuriedOn, BuriesInGroup, BuriesInTable, Grave, InTable, SameId, TakesDeadLetters, in_group,
    in_table,
};
pub use declaration::{
    Declaration, Declaring, DecodeFailure, Fits, counted, grouped, leased, of, retry_after,
    ungrouped,
};
pub(crate) use extract::States;
pub use extract::{Ctx, Extractor, FromDelivery, Identified, Needs, PoolOf, Shared, State, keys};
pub use message::{Carries, KindOf, MessageOf, Takes, Tie, Tied, TiedTo};
pub(crate) use mount::Settings;
pub use mount::{BothOrNone, Mount, Mounted, Set, Unset};
pub(crate) use outcome::Verb;
pub use outcome::{IntoOutcome, Outcome};
pub(crate) use outcomes::RowOutcome;
pub use outcomes::{IntoOutcomes, Outcomes};
pub(crate) use subscriber::TableOf;
pub use subscriber::{
    Declared, Mark, Marked, Run, Running, Subscribed, outcome, outcome_or, outcomes, outcomes_or,
    run,
};
pub use table::{
    CountsAttempts, Delays, Grouped, Leased, QueueTable, RowItself, TableOn, Ungrouped, at,
};
