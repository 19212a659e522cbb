//! The claim loop: when to claim, how many rows, and how to keep them.
//!
//! It asks statements of a subscription by what they do, and never which database wrote them. What
//! owns a row while it is in work has a folder of its own: a lease, or a locking transaction.

mod avoided;
mod course;
mod lease;
mod pace;
mod read;
mod row_lock;
mod subscription;
mod wake;

pub use lease::{Batch, Claimed, Key, Ledger, Renewal, Verdict, Work};
pub(crate) use lease::{Leases, Signals, claim_rows, keep_leases};
pub(crate) use pace::Backoff;
pub(crate) use row_lock::{Chain, End, LEFT_ALONE, RowLocks};
pub(crate) use subscription::{Resolved, Subscription};
pub(crate) use wake::{Wake, wake, wake_all};
