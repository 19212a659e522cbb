//! Which Rust types a column of each role can have.
//!
//! Each trait carries the sentence that a user reads at the field whose type does not fit.

use std::fmt::Debug;

use super::{Count, PayloadForm, TimeForm};

/// A type that can be the primary key of a queue table.
///
/// Every type that can be compared, copied and printed; whether a database can store it is asked
/// at the mount.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the id of a queue table",
    label = "cannot be an id",
    note = "an id is compared, cloned and printed: derive `Clone, Debug, PartialEq, Eq, PartialOrd, Ord` for `{Self}`"
)]
pub trait RowId: Clone + Debug + Ord + Send + Sync + Unpin + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Debug + Ord + Send + Sync + Unpin + 'static> RowId for T {}

/// A type that can group rows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the group of a row",
    label = "not a text",
    note = "a group is a text: use `String`"
)]
pub trait GroupColumn {}

impl GroupColumn for String {}

/// A type that can count deliveries.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot count deliveries",
    label = "not an integer of a database",
    note = "use `i16`, `i32` or `i64` (and not an `Option`: a fresh row has 1, the column's default)"
)]
pub trait AttemptColumn {
    /// The integer type.
    const COUNT: Count;
}

macro_rules! counts {
    ($($ty:ty => $count:ident),*) => { $(
        impl AttemptColumn for $ty {
            const COUNT: Count = Count::$count;
        }
    )* };
}

counts!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32);

/// A type that can hold an instant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold the time of a queue column",
    label = "not a time",
    note = "use `DateTime<Utc>` (feature `chrono`), `OffsetDateTime` (feature `time`, not on SQLite) or `i64` (microseconds since 1970), or an `Option` of one of them"
)]
pub trait TimeColumn {
    /// How the instant is written.
    const FORM: TimeForm;
    /// Whether the column can be null.
    const NULLABLE: bool;
}

impl TimeColumn for i64 {
    const FORM: TimeForm = TimeForm::Micros;
    const NULLABLE: bool = false;
}

impl TimeColumn for Option<i64> {
    const FORM: TimeForm = TimeForm::Micros;
    const NULLABLE: bool = true;
}

#[cfg(feature = "chrono")]
impl TimeColumn for chrono::DateTime<chrono::Utc> {
    const FORM: TimeForm = TimeForm::Native;
    const NULLABLE: bool = false;
}

#[cfg(feature = "chrono")]
impl TimeColumn for Option<chrono::DateTime<chrono::Utc>> {
    const FORM: TimeForm = TimeForm::Native;
    const NULLABLE: bool = true;
}

#[cfg(feature = "time")]
impl TimeColumn for time::OffsetDateTime {
    const FORM: TimeForm = TimeForm::Native;
    const NULLABLE: bool = false;
}

#[cfg(feature = "time")]
impl TimeColumn for Option<time::OffsetDateTime> {
    const FORM: TimeForm = TimeForm::Native;
    const NULLABLE: bool = true;
}

/// A type that can hold the end of a lease, or none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold a lease",
    label = "must be an `Option` of a time",
    note = "a row that nobody works on has a null lease: use `Option<DateTime<Utc>>` or `Option<i64>` (microseconds since 1970)"
)]
pub trait LeaseColumn: TimeColumn {}

impl LeaseColumn for Option<i64> {}
#[cfg(feature = "chrono")]
impl LeaseColumn for Option<chrono::DateTime<chrono::Utc>> {}
#[cfg(feature = "time")]
impl LeaseColumn for Option<time::OffsetDateTime> {}

/// A type that can hold when a row was processed, or null before.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold when a row was processed",
    label = "must be an `Option` of a time",
    note = "a row that waits has a null here: use `Option<DateTime<Utc>>` or `Option<i64>` (microseconds since 1970)"
)]
pub trait NullableTimeColumn: TimeColumn {}

impl NullableTimeColumn for Option<i64> {}
#[cfg(feature = "chrono")]
impl NullableTimeColumn for Option<chrono::DateTime<chrono::Utc>> {}
#[cfg(feature = "time")]
impl NullableTimeColumn for Option<time::OffsetDateTime> {}

/// A type that can hold the reason of a failure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold the reason of a failure",
    label = "must be an optional text",
    note = "a row that did not fail has a null here: use `Option<String>`"
)]
pub trait ErrorColumn {}

impl ErrorColumn for Option<String> {}

/// A type that can hold a message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold a message",
    label = "not a payload",
    note = "use `Vec<u8>`, `String` or `Json<T>` (feature `json`)"
)]
pub trait PayloadColumn {
    /// How the message is written.
    const FORM: PayloadForm;
}

impl PayloadColumn for Vec<u8> {
    const FORM: PayloadForm = PayloadForm::Bytes;
}

impl PayloadColumn for String {
    const FORM: PayloadForm = PayloadForm::Text;
}
