//! Being told that there is no use in going on.

use tokio_util::sync::CancellationToken;

use super::{Extractor, FromDelivery};
use crate::backend::Backend;
use crate::handler::{Cx, Outcome, TableOn};

/// Fires when the delivery has lost its row, or when the service's drain timeout is near.
impl<T> Extractor<T> for CancellationToken {}

impl<DB: Backend, T: TableOn<DB>> FromDelivery<DB, T> for CancellationToken {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        Ok(cx.cancellation())
    }
}
