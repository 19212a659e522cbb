//! A broker: the connection of a service to one database, in its three states.
//!
//! [`SqlxBroker`] is settings and does no I/O, [`ConnectedSqlxBroker`] has connections, and
//! [`ClosedSqlxBroker`] tells what became of them.

mod check;
mod connected;
mod open;
mod resolve;
mod settings;
mod supervise;

pub(crate) use connected::Shared;
pub use connected::{ClosedSqlxBroker, ConnectedSqlxBroker};
pub(crate) use open::{Opened, open};
pub use settings::{OwnPool, SharedPool, SqlxBroker};
pub(crate) use supervise::{Running, Stop};
