//! The claim loop: when to claim, how many rows, and how to keep them.
//!
//! It asks statements of a subscription by what they do, and never which database wrote them.

mod avoided;
mod buffer;
mod claimer;
mod course;
mod keeper;
mod ledger;
mod pace;
mod refused;
mod subscription;
mod wake;

pub(crate) use claimer::claim_rows;
pub(crate) use keeper::keep_leases;
pub use ledger::{Batch, Claimed, Key, Ledger, Renewal, Verdict, Work};
pub(crate) use pace::Backoff;
pub(crate) use subscription::{Resolved, Signals, Subscription};
pub(crate) use wake::{Wake, wake, wake_all};
