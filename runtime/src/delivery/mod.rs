//! Claimed rows on their way through a handler, or in the hands of the user's own code.

mod call;
mod in_hand;
mod lease;
mod row_lock;
mod stream;

pub use in_hand::Delivery;
pub(crate) use lease::work as work_on_leases;
pub(crate) use row_lock::work as work_on_row_locks;
pub use stream::DeliveryStream;
