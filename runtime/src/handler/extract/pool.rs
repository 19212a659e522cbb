//! The broker's pool.

use std::marker::PhantomData;

use super::keys::Key;
use super::{Ctx, Extractor, FromDelivery, Needs};
use crate::backend::Backend;
use crate::handler::{Cx, Outcome, TableOn};

/// The pool of the broker, for what the handler itself reads and writes in the queue's database.
///
/// It names a database, and a subscriber that takes it is mounted on brokers of that one only. What
/// the handler writes is committed by itself, before the row is settled, so a row that is delivered
/// again finds it there.
///
/// A broker that built its pool gives its connections back to it after each statement, as in a pool
/// of the service's own, once a subscriber takes this. It waits 5 seconds for a connection unless
/// `pool_options` say otherwise, and [`shutdown`](crate::ConnectedSqlxBroker::shutdown) waits for
/// connections that are still out.
///
/// ```
/// use queue_table::prelude::*;
/// use sqlx::Sqlite;
///
/// # #[derive(QueueTable, sqlx::FromRow)]
/// # #[queue_table(name = "jobs")]
/// # struct Job { #[queue(id)] id: i64, #[queue(locked_until)] locked_until: Option<i64> }
/// #[subscriber(Job)]
/// async fn count(Ctx(pool): Ctx<keys::Pool<Sqlite>>) -> sqlx::Result<()> {
///     let add = "UPDATE counted SET rows = rows + 1";
///     sqlx::query(add).execute(&pool).await.map(drop)
/// }
///
/// # fn mount(b: &mut queue_table::Mounts<Sqlite>) {
/// b.mount(count);
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> sqlx::Result<()> {
/// // A test hands over a pool of its own.
/// let pool = sqlx::SqlitePool::connect("sqlite::memory:").await?;
/// sqlx::query("CREATE TABLE counted (rows integer)").execute(&pool).await?;
/// count(Ctx(pool)).await
/// # }
/// ```
pub struct Pool<P>(PhantomData<fn() -> P>);

impl<P> std::fmt::Debug for Pool<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl<P: Backend> Key for Pool<P> {
    type Value = sqlx::Pool<P>;
}

/// A database, and `DB` is the same.
#[diagnostic::on_unimplemented(
    message = "a subscriber that takes the pool of a `{Self}` broker cannot be mounted on `{DB}`",
    label = "takes `Ctx<keys::Pool<{Self}>>`",
    note = "mount it on a broker of `{Self}`; a pool of another database is shared by `Service::state` and taken as `State<sqlx::Pool<{Self}>>`"
)]
#[doc(hidden)]
pub trait PoolOf<DB: Backend>: Backend {
    /// The same pool.
    fn same(pool: sqlx::Pool<DB>) -> sqlx::Pool<Self>;
}

#[diagnostic::do_not_recommend]
impl<DB: Backend> PoolOf<DB> for DB {
    fn same(pool: sqlx::Pool<DB>) -> sqlx::Pool<DB> {
        pool
    }
}

impl<T, P: Backend> Extractor<T> for Ctx<Pool<P>> {
    fn needs(needs: &mut Needs) {
        needs.pool = true;
    }
}

impl<DB: Backend, T: TableOn<DB>, P: PoolOf<DB>> FromDelivery<DB, T> for Ctx<Pool<P>> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        // A clone is one more handle to the same pool.
        Ok(Self(P::same(cx.pool().clone())))
    }
}
