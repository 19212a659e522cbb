//! What a handler can take besides its message.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{CountsAttempts, Cx, Outcome, TableOn};
use crate::backend::Backend;

/// A type that a handler of the table `T` can take by value, on some database.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken by a handler",
    label = "not an extractor",
    note = "a handler takes its message (`&T`), its row (`&Row`), `Ctx<keys::Attempt>`, `State<S>` and `CancellationToken`",
    note = "to share a value of your own, register it with `Service::state` and take `State<{Self}>`"
)]
pub trait Extractor<T>: Send {
    /// Names what the service must have for it.
    #[doc(hidden)]
    fn needs(_needs: &mut Needs) {}
}

/// An extractor on a database and a table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from a delivery of `{T}` on `{DB}`",
    label = "not available for `{T}`",
    note = "`Ctx<keys::Attempt>` needs a column that counts deliveries: `#[queue(attempt)] attempt: i32`"
)]
pub trait FromDelivery<DB: Backend, T: TableOn<DB>>: Extractor<T> + Sized {
    /// Takes the value, or says what happens to the row instead of the handler's call.
    ///
    /// # Errors
    /// The outcome of a delivery from which the value cannot be taken.
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome>;
}

/// What [`Ctx`] can be asked for.
pub mod keys {
    /// Something that a delivery knows about itself.
    pub trait Key {
        /// What it is.
        type Value: std::fmt::Debug;
    }

    /// The number of this delivery of the row, from 1.
    #[derive(Debug)]
    pub enum Attempt {}

    impl Key for Attempt {
        type Value = u32;
    }
}

/// One fact about the delivery, named by its key: `Ctx(attempt): Ctx<keys::Attempt>`.
pub struct Ctx<K: keys::Key>(pub K::Value);

impl<K: keys::Key> fmt::Debug for Ctx<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ctx").field(&self.0).finish()
    }
}

impl<T: CountsAttempts> Extractor<T> for Ctx<keys::Attempt> {}

impl<DB: Backend, T: TableOn<DB> + CountsAttempts> FromDelivery<DB, T> for Ctx<keys::Attempt> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        Ok(Self(cx.meta().attempt()))
    }
}

/// A value of the service's own, registered with `Service::state` and cloned for each delivery.
///
/// Put what is costly to clone behind an `Arc`.
#[derive(Debug, Clone)]
pub struct State<S>(pub S);

/// A value that a service can share with its handlers.
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` cannot be shared with handlers",
    label = "not `Clone`, `Send` and `Sync`",
    note = "each delivery gets a clone, on whatever thread it runs: add `#[derive(Clone)]` to a type of your own, or put it behind an `Arc`; use `Arc` for `Rc`, and `Mutex` for `RefCell`"
)]
pub trait Shared: Clone + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<S: Clone + Send + Sync + 'static> Shared for S {}

impl<T, S: Shared> Extractor<T> for State<S> {
    fn needs(needs: &mut Needs) {
        needs.0.push((TypeId::of::<S>(), type_name::<S>()));
    }
}

impl<DB, T, S> FromDelivery<DB, T> for State<S>
where
    DB: Backend,
    T: TableOn<DB>,
    S: Shared,
{
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        match cx.states().get::<S>() {
            // Cloned, because the user's handler owns its arguments.
            Some(state) => Ok(Self(state.clone())),
            None => unreachable!("start-up looked for every state that a handler takes"),
        }
    }
}

/// Fires when the delivery has lost its row, or when the service's drain timeout is near.
impl<T> Extractor<T> for CancellationToken {}

impl<DB: Backend, T: TableOn<DB>> FromDelivery<DB, T> for CancellationToken {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        Ok(cx.cancellation())
    }
}

/// The types of state that a handler takes.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Needs(pub(crate) Vec<(TypeId, &'static str)>);

/// The values that a service shares with its handlers, by type.
#[derive(Clone, Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    pub(crate) fn insert<S: Send + Sync + 'static>(&mut self, state: S) {
        self.0.insert(TypeId::of::<S>(), Arc::new(state));
    }

    fn get<S: 'static>(&self) -> Option<&S> {
        self.0.get(&TypeId::of::<S>())?.downcast_ref()
    }

    /// The name of the first type that is needed and not there.
    pub(crate) fn missing(&self, needs: &Needs) -> Option<&'static str> {
        let missing = needs.0.iter().find(|(id, _)| !self.0.contains_key(id));
        missing.map(|(_, name)| *name)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("types", &self.0.len()).finish()
    }
}
