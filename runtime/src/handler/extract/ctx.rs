//! Facts about a delivery, each named by its key.

use std::fmt;

/// What [`Ctx`](super::Ctx) can be asked for.
pub mod keys {
    /// Something that a delivery knows about itself.
    pub trait Key {
        /// What it is.
        type Value: std::fmt::Debug;
    }

    pub use super::super::attempt::Attempt;
    pub use super::super::deadline::Deadline;
    pub use super::super::group::Group;
    pub use super::super::id::Id;
    pub use super::super::pool::Pool;
}

/// One fact about the delivery, named by its key: `Ctx(attempt): Ctx<keys::Attempt>`.
pub struct Ctx<K: keys::Key>(pub K::Value);

impl<K: keys::Key> fmt::Debug for Ctx<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ctx").field(&self.0).finish()
    }
}
