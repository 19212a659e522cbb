//! Outcomes into the table: one statement for all that wait, and for each row its own verdict.

mod answer;
mod look;
mod settlement;
mod settler;

pub use look::Found;
pub(crate) use look::look_up;
pub(crate) use settlement::Cap;
pub use settlement::Settlement;
pub(crate) use settler::{give_back, settle_outcomes};
