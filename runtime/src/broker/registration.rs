//! Who is subscribed to which group of which table: one subscription at a time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::SqlxBrokerError;

/// The table and the group, empty where the table has none.
type Place = (String, String);

/// The subscriptions of one broker, each with its name.
#[derive(Debug, Default)]
pub(crate) struct Register(Mutex<HashMap<Place, &'static str>>);

impl Register {
    /// Notes a subscription, or tells who has the table's group already.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        table: &str,
        group: &str,
        subscription: &'static str,
    ) -> Result<Registration, SqlxBrokerError> {
        let place = (table.to_owned(), group.to_owned());
        match self.0.lock().entry(place.clone()) {
            Entry::Occupied(other) => Err(SqlxBrokerError::AlreadySubscribed {
                subscription: subscription.to_owned(),
                other: (*other.get()).to_owned(),
                table: table.to_owned(),
                group: group.to_owned(),
            }),
            Entry::Vacant(vacant) => {
                vacant.insert(subscription);
                Ok(Registration { register: Arc::clone(self), place })
            }
        }
    }
}

/// Keeps a group of a table to one subscription; dropped, it is free for the next one.
pub(crate) struct Registration {
    register: Arc<Register>,
    place: Place,
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registration").field(&self.place).finish()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.register.0.lock().remove(&self.place);
    }
}
