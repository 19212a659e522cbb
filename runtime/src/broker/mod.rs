//! A broker: the connection of a service to one database, in its three states.
//!
//! [`SqlxBroker`] is settings and does no I/O, [`ConnectedSqlxBroker`] has connections, and
//! [`ClosedSqlxBroker`] tells what became of them.

mod check;
mod connected;
mod open;
mod registration;
mod resolve;
mod settings;
mod subscribe;
mod supervise;

pub(crate) use connected::Shared;
pub use connected::{ClosedSqlxBroker, ConnectedSqlxBroker};
pub(crate) use open::open;
pub(crate) use registration::Registration;
pub use settings::{OwnPool, SharedPool, SqlxBroker};
pub use subscribe::SubscribeOptions;
pub(crate) use supervise::{Running, Stop};
