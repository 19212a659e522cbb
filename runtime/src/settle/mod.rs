//! Outcomes into the table: one statement for all of a kind, and for each row its own verdict.

mod answer;
mod look;
mod refused;
mod row_lock;
mod settlement;
mod settler;
mod settling;
mod unwritten;

pub use look::Found;
pub(crate) use look::look_up;
pub(crate) use row_lock::{Refused, settle_locked};
pub(crate) use settlement::Cap;
pub use settlement::Settlement;
pub(crate) use settler::{give_back, settle_outcomes};
pub(crate) use settling::Settling;
pub(crate) use unwritten::{Unwritten, Waiter};
