//! The group of the subscription.

use super::keys::Key;
use super::{Ctx, Extractor, FromDelivery};
use crate::backend::Backend;
use crate::handler::{Cx, Grouped, Outcome, TableOn};

/// The group that the subscription works on, in a table with a `group` column: what the attribute
/// says, or the mount, where one handler serves several groups.
///
/// ```
/// use queue_table::prelude::*;
///
/// # #[derive(QueueTable, sqlx::FromRow)]
/// # #[queue_table(name = "jobs")]
/// # struct Job {
/// #     #[queue(id)] id: i64,
/// #     #[queue(group)] kind: String,
/// #     #[queue(locked_until)] locked_until: Option<i64>,
/// # }
/// #[subscriber(Job, group = "paid")]
/// async fn serve(Ctx(group): Ctx<keys::Group>) -> Outcome {
///     if group == "paid" { Outcome::ack() } else { Outcome::drop() }
/// }
///
/// # fn mount(b: &mut queue_table::Mounts<sqlx::Sqlite>) {
/// b.mount(serve);
/// b.mount(serve.group("free"));
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(serve(Ctx("free".to_owned())).await, Outcome::drop());
/// # }
/// ```
#[derive(Debug)]
pub enum Group {}

impl Key for Group {
    type Value = String;
}

impl<T: Grouped> Extractor<T> for Ctx<Group> {}

impl<DB: Backend, T: TableOn<DB> + Grouped> FromDelivery<DB, T> for Ctx<Group> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        // Cloned, because the user's handler owns its arguments.
        Ok(Self(cx.group().to_owned()))
    }
}
