//! Claimed rows on their way through a handler.

mod call;
mod lease;
mod row_lock;

pub(crate) use lease::work as work_on_leases;
pub(crate) use row_lock::work as work_on_row_locks;
