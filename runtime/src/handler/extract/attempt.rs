//! The number of the delivery.

use super::keys::Key;
use super::{Ctx, Extractor, FromDelivery};
use crate::backend::Backend;
use crate::handler::{CountsAttempts, Cx, Outcome, TableOn};

/// The number of this delivery of the row, from 1, in a table with an `attempt` column. In a batch
/// it is the largest of its rows.
#[derive(Debug)]
pub enum Attempt {}

impl Key for Attempt {
    type Value = u32;
}

impl<T: CountsAttempts> Extractor<T> for Ctx<Attempt> {}

impl<DB: Backend, T: TableOn<DB> + CountsAttempts> FromDelivery<DB, T> for Ctx<Attempt> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        Ok(Self(cx.meta().attempt()))
    }
}
