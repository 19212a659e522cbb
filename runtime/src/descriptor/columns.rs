//! Columns as the derive writes them: with the access to the field, which keeps rustc from calling
//! dead code what only the queue uses.

use std::marker::PhantomData;

use super::{
    AttemptColumn, Column, ErrorColumn, GroupColumn, LeaseColumn, NullableTimeColumn,
    PayloadColumn, RowId, TimeColumn,
};

/// The columns of the row struct `R`; each method's name is part of what rustc prints.
#[derive(Debug)]
pub struct Columns<R>(PhantomData<fn() -> R>);

type Access<R, T> = fn(&R) -> &T;

#[allow(missing_docs, reason = "each is the column of the role of that name")]
impl<R> Columns<R> {
    /// There is nothing in it but the type.
    pub const OF: Self = Self(PhantomData);

    #[must_use]
    pub const fn id<T: RowId>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::id::<T>(name)
    }

    #[must_use]
    pub const fn group<T: GroupColumn>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::group::<T>(name)
    }

    #[must_use]
    pub const fn attempt<T: AttemptColumn>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::attempt::<T>(name)
    }

    #[must_use]
    pub const fn retry_after<T: TimeColumn>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::retry_after::<T>(name)
    }

    #[must_use]
    pub const fn locked_until<T: LeaseColumn>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::locked_until::<T>(name)
    }

    #[must_use]
    pub const fn processed_at<T: NullableTimeColumn>(
        self,
        name: &'static str,
        _: Access<R, T>,
    ) -> Column {
        Column::processed_at::<T>(name)
    }

    #[must_use]
    pub const fn last_error<T: ErrorColumn>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::last_error::<T>(name)
    }

    #[must_use]
    pub const fn payload<T: PayloadColumn>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::payload::<T>(name)
    }

    #[must_use]
    pub const fn data<T>(self, name: &'static str, _: Access<R, T>) -> Column {
        Column::data::<T>(name)
    }
}
