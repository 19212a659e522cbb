//! Which columns an insert names.

/// The columns of an insert; all others are left to the database.
#[derive(Debug, Clone, Default)]
pub struct Insert {
    /// The id is given, not made by the database.
    pub id: bool,
    /// The row has a group.
    pub group: bool,
    /// The row has a message.
    pub payload: bool,
    /// The row is due later.
    pub delay: bool,
    /// The data columns that are named, and whether each row has a value of its own.
    pub data: Vec<(&'static str, bool)>,
}
