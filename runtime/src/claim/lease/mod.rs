//! Rows that are leased: claimed in batches into a ledger, renewed while they are in work, and
//! settled by their tokens.

mod buffer;
mod claimer;
mod hands;
mod keeper;
mod ledger;
mod refused;
mod signals;

use parking_lot::Mutex;

use super::Subscription;
use crate::backend::Backend;
use crate::descriptor::TimeForm;
use crate::dialect::LeaseStatements;
use crate::handler::TableOn;

pub(crate) use claimer::claim_rows;
pub(crate) use keeper::keep_leases;
use ledger::startable;
pub use ledger::{Batch, Claimed, Key, Ledger, Renewal, Verdict, Work};
pub(crate) use signals::Signals;

/// A subscription to a lease table, and the rows that it has.
#[derive(Debug)]
pub(crate) struct Leases<DB: Backend, T: TableOn<DB>> {
    pub(crate) subscription: Subscription<DB>,
    pub(crate) statements: LeaseStatements,
    /// How leases are written.
    pub(crate) form: TimeForm,
    pub(crate) ledger: Mutex<Ledger<T::Id, DB::Row>>,
    pub(crate) signals: Signals,
}
