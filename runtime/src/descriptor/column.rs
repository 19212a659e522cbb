//! One column of a queue table: its name, its role, and how its values are written.

use super::{
    AttemptColumn, ErrorColumn, GroupColumn, LeaseColumn, NullableTimeColumn, PayloadColumn,
    TimeColumn,
};

/// What a column does for the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The primary key.
    Id,
    /// Which subscription a row belongs to.
    Group,
    /// The number of the next delivery; 1 in a fresh row.
    Attempt,
    /// The time before which a row is not claimed.
    RetryAfter,
    /// The end of the lease, which is also the token of the delivery that holds it.
    LockedUntil,
    /// When a row was acked or dropped; without this column such a row is deleted.
    ProcessedAt,
    /// Why the last delivery failed.
    LastError,
    /// The message.
    Payload,
    /// A column of the user's own.
    Data,
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Id => "id",
            Self::Group => "group",
            Self::Attempt => "attempt",
            Self::RetryAfter => "retry_after",
            Self::LockedUntil => "locked_until",
            Self::ProcessedAt => "processed_at",
            Self::LastError => "last_error",
            Self::Payload => "payload",
            Self::Data => "data",
        })
    }
}

/// How a time is written in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeForm {
    /// The database's own type for an instant; on SQLite, RFC 3339 text as sqlx writes it.
    Native,
    /// An integer: microseconds since 1970-01-01T00:00:00Z.
    Micros,
}

/// The integer type in which deliveries are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the Rust type of that name")]
#[non_exhaustive]
pub enum Count {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
}

impl Count {
    /// The largest count that the column can hold; counting stops there.
    #[must_use]
    pub const fn max(self) -> i64 {
        match self {
            Self::I8 => i8::MAX as i64,
            Self::I16 => i16::MAX as i64,
            Self::I32 => i32::MAX as i64,
            Self::I64 => i64::MAX,
            Self::U8 => u8::MAX as i64,
            Self::U16 => u16::MAX as i64,
            Self::U32 => u32::MAX as i64,
        }
    }
}

/// How the message is written in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PayloadForm {
    /// Bytes that hold JSON.
    Bytes,
    /// Text that holds JSON.
    Text,
    /// The database's JSON type.
    Json,
}

/// How the values of a column are written, as far as the queue writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The queue binds and reads it as the field's type.
    Opaque,
    /// A number of deliveries.
    Count(Count),
    /// An instant, and whether the column can be null.
    Time {
        /// How it is written.
        form: TimeForm,
        /// Whether the field is an `Option`.
        nullable: bool,
    },
    /// A message.
    Payload(PayloadForm),
}

/// A column as the row struct declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    name: &'static str,
    role: Role,
    form: Form,
}

impl Column {
    const fn new(name: &'static str, role: Role, form: Form) -> Self {
        Self { name, role, form }
    }

    const fn time<T: TimeColumn>(name: &'static str, role: Role) -> Self {
        Self::new(name, role, Form::Time { form: T::FORM, nullable: T::NULLABLE })
    }

    /// The primary key.
    #[must_use]
    pub const fn id<T>(name: &'static str) -> Self {
        Self::new(name, Role::Id, Form::Opaque)
    }

    /// The column that groups rows.
    #[must_use]
    pub const fn group<T: GroupColumn>(name: &'static str) -> Self {
        Self::new(name, Role::Group, Form::Opaque)
    }

    /// The column that counts deliveries.
    #[must_use]
    pub const fn attempt<T: AttemptColumn>(name: &'static str) -> Self {
        Self::new(name, Role::Attempt, Form::Count(T::COUNT))
    }

    /// The column that delays rows.
    #[must_use]
    pub const fn retry_after<T: TimeColumn>(name: &'static str) -> Self {
        Self::time::<T>(name, Role::RetryAfter)
    }

    /// The column that holds leases.
    #[must_use]
    pub const fn locked_until<T: LeaseColumn>(name: &'static str) -> Self {
        Self::time::<T>(name, Role::LockedUntil)
    }

    /// The column that keeps processed rows.
    #[must_use]
    pub const fn processed_at<T: NullableTimeColumn>(name: &'static str) -> Self {
        Self::time::<T>(name, Role::ProcessedAt)
    }

    /// The column for the reason of the last failure.
    #[must_use]
    pub const fn last_error<T: ErrorColumn>(name: &'static str) -> Self {
        Self::new(name, Role::LastError, Form::Opaque)
    }

    /// The column that holds the message.
    #[must_use]
    pub const fn payload<T: PayloadColumn>(name: &'static str) -> Self {
        Self::new(name, Role::Payload, Form::Payload(T::FORM))
    }

    /// A column of the user's own.
    #[must_use]
    pub const fn data<T>(name: &'static str) -> Self {
        Self::new(name, Role::Data, Form::Opaque)
    }

    /// The column's name, unquoted.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What the column does for the queue.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// How the column's values are written.
    #[must_use]
    pub const fn form(&self) -> Form {
        self.form
    }
}
