//! The moment at which the handler is cut off.

use std::time::Instant;

use super::keys::Key;
use super::{Ctx, Extractor, FromDelivery};
use crate::backend::Backend;
use crate::handler::{Cx, Outcome, TableOn};

/// The moment by which the handler must be done, by this host's monotonic clock.
///
/// It is the end of the subscription's `timeout`, which is counted from before the message is
/// decoded: then the handler is dropped where it waits, and the row is retried. Without a `timeout`
/// it is `None`.
///
/// A drain is not in it: a service that stops may cut the handler off sooner, and a
/// [`CancellationToken`](crate::CancellationToken) tells that.
///
/// ```
/// use std::time::{Duration, Instant};
/// use queue_table::prelude::*;
///
/// # #[derive(QueueTable, sqlx::FromRow)]
/// # #[queue_table(name = "jobs")]
/// # struct Job { #[queue(id)] id: i64, #[queue(locked_until)] locked_until: Option<i64> }
/// /// Does as many of its steps as fit into half a minute.
/// #[subscriber(Job, timeout = "30s")]
/// async fn step_by_step(Ctx(deadline): Ctx<keys::Deadline>) -> Outcome {
///     let left = |end: Instant| end.saturating_duration_since(Instant::now());
///     match deadline.map(left) {
///         Some(left) if left < Duration::from_secs(5) => Outcome::retry(),
///         _ => Outcome::ack(),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(step_by_step(Ctx(None)).await, Outcome::ack());
/// assert_eq!(step_by_step(Ctx(Some(Instant::now()))).await, Outcome::retry());
/// # }
/// ```
#[derive(Debug)]
pub enum Deadline {}

impl Key for Deadline {
    type Value = Option<Instant>;
}

impl<T> Extractor<T> for Ctx<Deadline> {}

impl<DB: Backend, T: TableOn<DB>> FromDelivery<DB, T> for Ctx<Deadline> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        Ok(Self(cx.deadline()))
    }
}
