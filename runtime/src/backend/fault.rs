//! What an error of a database means for the queue.

/// What an error of a database means, and so what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The statement failed for a reason that passes: it is sent again, on the same connection.
    Transient,
    /// There is no room for what the statement writes: it passes, or somebody sees to it. Another
    /// table may have room.
    Full,
    /// The statement waited too long for a lock of somebody else: nothing was changed.
    Blocked,
    /// The connection is lost or of no use: whether the statement ran is not known.
    Connection,
    /// The database refuses this row's data: a foreign key, a check, a trigger.
    Data,
    /// The table is not what was declared, or not allowed: no repetition helps.
    Schema,
}

impl Fault {
    /// What an error means that no database sent.
    pub(super) const fn of_client(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Encode(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::TypeNotFound { .. } => Self::Data,
            sqlx::Error::ColumnNotFound(_) | sqlx::Error::ColumnIndexOutOfBounds { .. } => {
                Self::Schema
            }
            // An exhausted pool, and a server that cannot be reached: nothing was sent.
            sqlx::Error::PoolTimedOut => Self::Transient,
            _ => Self::Connection,
        }
    }
}
