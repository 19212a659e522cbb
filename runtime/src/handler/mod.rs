//! Handlers: what they take, what they return, how they are mounted.

mod cx;
mod declaration;
mod extract;
mod message;
mod mount;
mod outcome;
mod outcomes;
mod table;

pub(crate) use cx::id;
pub use cx::{Cx, Meta, Taken};
pub use declaration::{Declaration, Declared, DecodeFailure, Run, Subscribed, outcome, outcome_or};
pub(crate) use extract::States;
pub use extract::{Ctx, Extractor, FromDelivery, Needs, State, keys};
pub use message::{Carries, Takes};
pub(crate) use mount::Settings;
pub use mount::{BothOrNone, Mount, Mounted, Set, Unset};
pub(crate) use outcome::Verb;
pub use outcome::{IntoOutcome, Outcome};
pub(crate) use outcomes::RowOutcome;
pub use outcomes::{IntoOutcomes, Outcomes};
pub use table::{CountsAttempts, Delays, Grouped, QueueTable, RowItself, TableOn, Ungrouped};
