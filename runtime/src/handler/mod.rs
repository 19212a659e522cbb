//! Handlers: what they take, what they return, how they are mounted.

mod cx;
mod declaration;
mod extract;
mod message;
mod mount;
mod outcome;
mod table;

pub use cx::{Cx, Meta};
pub use declaration::{Declaration, Declared, DecodeFailure, Run, Subscribed, outcome, outcome_or};
pub(crate) use extract::States;
pub use extract::{Ctx, Extractor, FromDelivery, Needs, State, keys};
pub use message::{Carries, Takes};
pub(crate) use mount::Settings;
pub use mount::{BothOrNone, Mount, Mounted, Set, Unset};
pub(crate) use outcome::Verb;
pub use outcome::{IntoOutcome, Outcome};
pub use table::{CountsAttempts, Delays, Grouped, QueueTable, RowItself, TableOn, Ungrouped};
