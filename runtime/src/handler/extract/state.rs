//! Values of the service's own.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::{Extractor, FromDelivery, Needs};
use crate::backend::Backend;
use crate::handler::{Cx, Outcome, TableOn};

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
        needs.states.push((TypeId::of::<S>(), type_name::<S>()));
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
        let missing = needs.states.iter().find(|(id, _)| !self.0.contains_key(id));
        missing.map(|(_, name)| *name)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("types", &self.0.len()).finish()
    }
}
