//! Rows into a queue table: in the service's own transaction, or through a broker.

mod field;
mod inserted;
mod message;
mod messages;
mod publisher;

pub use field::Field;
pub use inserted::{Inserted, InsertedMany};
pub use message::Message;
pub use messages::Messages;
pub use publisher::Publisher;
