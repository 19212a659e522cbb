//! Where rows go whose attempts are spent: a group of their own table, or another table.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::{Grouped, QueueTable, TableOn, Ungrouped};
use crate::backend::Backend;
use crate::descriptor::TableDescriptor;

/// Where rows go whose attempts are spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeadLetter {
    /// Another group of their table.
    Group(String),
    /// Another table with the same columns.
    Table(TableDescriptor),
}

/// Where an attribute says that they go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Group(&'static str),
    Table(TableDescriptor),
}

impl From<Place> for DeadLetter {
    fn from(place: Place) -> Self {
        match place {
            Place::Group(group) => Self::Group(group.to_owned()),
            Place::Table(table) => Self::Table(table),
        }
    }
}

/// Where an attribute says that the spent rows of the table `T` go.
#[derive(Debug)]
#[doc(hidden)]
pub struct Grave<T>(pub(super) Place, PhantomData<fn() -> T>);

/// They go to another group.
#[must_use]
pub const fn in_group<T>(group: &'static str) -> Grave<T> {
    Grave(Place::Group(group), PhantomData)
}

/// They go to the table `D`. That `T` has no groups is asked where the attribute names none.
#[must_use]
pub const fn in_table<D: TakesDeadLetters<Id: SameId<T::Id>>, T: QueueTable>() -> Grave<T> {
    Grave(Place::Table(D::TABLE), PhantomData)
}

/// A table whose dead letters are a group of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no group column, so its dead letters are another table",
    label = "`{Self}` does not group its rows",
    note = "name a table with the same columns: `dead_letter(table = DeadEmail)`, or at the mount `.dead_letter_table::<DeadEmail>()`"
)]
#[doc(hidden)]
pub trait BuriesInGroup {}

#[diagnostic::do_not_recommend]
impl<T: Grouped> BuriesInGroup for T {}

/// A table whose dead letters are another table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has a group column, so its dead letters are a group of it",
    label = "`{Self}` groups its rows",
    note = "name a group: `dead_letter(group = \"failed\")`, or at the mount `.dead_letter_group(\"failed\")`"
)]
#[doc(hidden)]
pub trait BuriesInTable {}

#[diagnostic::do_not_recommend]
impl<T: Ungrouped> BuriesInTable for T {}

/// A table that can take dead letters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take dead letters, because it is not a queue table",
    label = "not a queue table",
    note = "declare it as one, with the columns of the table that its rows come from: `#[derive(QueueTable, sqlx::FromRow)]` and `#[queue_table(name = \"..\")]`"
)]
#[doc(hidden)]
pub trait TakesDeadLetters: QueueTable {}

#[diagnostic::do_not_recommend]
impl<D: QueueTable> TakesDeadLetters for D {}

/// The same type of id: a dead letter keeps the id of its row.
#[diagnostic::on_unimplemented(
    message = "the dead letters have ids of type `{Self}`, and the rows ids of type `{Id}`",
    label = "another type of id",
    note = "a dead letter keeps the id of its row: give both tables the same type of id"
)]
#[doc(hidden)]
pub trait SameId<Id> {}

#[diagnostic::do_not_recommend]
impl<Id> SameId<Id> for Id {}

/// The dead letters go to the table `D`.
#[derive(Debug)]
#[doc(hidden)]
pub struct InTable<D>(Infallible, PhantomData<fn() -> D>);

/// Where dead letters go, on a database.
#[doc(hidden)]
pub trait BuriedOn<DB: Backend> {}

#[diagnostic::do_not_recommend]
impl<DB: Backend> BuriedOn<DB> for super::Set {}

#[diagnostic::do_not_recommend]
impl<DB: Backend> BuriedOn<DB> for super::Unset {}

#[diagnostic::do_not_recommend]
impl<DB: Backend, D: TableOn<DB>> BuriedOn<DB> for InTable<D> {}
