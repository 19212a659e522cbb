//! Data columns by typed name.

use std::fmt;
use std::marker::PhantomData;

use crate::backend::{Backend, BindResult, Col, Each};

/// A data column of a table, with the type of its values: `EmailJob::ACCOUNT_ID`.
pub struct Field<T, V> {
    name: &'static str,
    marker: PhantomData<fn() -> (T, V)>,
}

impl<T, V> Field<T, V> {
    /// The column `name` of a table.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, marker: PhantomData }
    }

    /// The column's name, unquoted.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T, V> fmt::Debug for Field<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Field").field(&self.name).finish()
    }
}

impl<T, V> Clone for Field<T, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, V> Copy for Field<T, V> {}

/// The values of a row's data columns, by their position.
#[doc(hidden)]
pub trait Data<DB: Backend> {
    /// Whether there are none.
    const NONE: bool;
    fn bind(&self, at: usize, arguments: &mut DB::Arguments) -> BindResult;
}

/// The values of many rows' data columns, by their position.
#[doc(hidden)]
pub trait DataOfEach<DB: Backend> {
    fn bind(&self, at: usize, row: usize, arguments: &mut DB::Arguments) -> BindResult;
    fn bind_each(&self, at: usize, arguments: &mut DB::Arguments) -> BindResult;
    /// Whether every column has a value for each of `rows` rows.
    fn has(&self, rows: usize) -> bool;
}

/// One more value.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct With<V, Rest>(pub(super) V, pub(super) Rest, pub(super) usize);

/// One more column with a value for each row.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct WithEach<V, Rest>(pub(super) Vec<V>, pub(super) Rest, pub(super) usize);

impl<DB: Backend> Data<DB> for () {
    const NONE: bool = true;

    fn bind(&self, _at: usize, _arguments: &mut DB::Arguments) -> BindResult {
        unreachable!("a statement asks only for the columns that were set")
    }
}

impl<DB: Backend, V: Col<DB>, Rest: Data<DB>> Data<DB> for With<V, Rest> {
    const NONE: bool = false;

    fn bind(&self, at: usize, arguments: &mut DB::Arguments) -> BindResult {
        if at == self.2 { self.0.bind(arguments) } else { self.1.bind(at, arguments) }
    }
}

impl<DB: Backend> DataOfEach<DB> for () {
    fn bind(&self, _at: usize, _row: usize, _arguments: &mut DB::Arguments) -> BindResult {
        unreachable!("a statement asks only for the columns that were set")
    }

    fn bind_each(&self, _at: usize, _arguments: &mut DB::Arguments) -> BindResult {
        unreachable!("a statement asks only for the columns that were set")
    }

    fn has(&self, _rows: usize) -> bool {
        true
    }
}

impl<DB: Backend, V: Col<DB>, Rest: DataOfEach<DB>> DataOfEach<DB> for With<V, Rest> {
    fn bind(&self, at: usize, row: usize, arguments: &mut DB::Arguments) -> BindResult {
        if at == self.2 { self.0.bind(arguments) } else { self.1.bind(at, row, arguments) }
    }

    fn bind_each(&self, at: usize, arguments: &mut DB::Arguments) -> BindResult {
        self.1.bind_each(at, arguments)
    }

    fn has(&self, rows: usize) -> bool {
        self.1.has(rows)
    }
}

impl<DB: Backend, V: Each<DB>, Rest: DataOfEach<DB>> DataOfEach<DB> for WithEach<V, Rest> {
    fn bind(&self, at: usize, row: usize, arguments: &mut DB::Arguments) -> BindResult {
        if at == self.2 { self.0[row].bind(arguments) } else { self.1.bind(at, row, arguments) }
    }

    fn bind_each(&self, at: usize, arguments: &mut DB::Arguments) -> BindResult {
        if at == self.2 {
            V::bind_each(&self.0, arguments)
        } else {
            self.1.bind_each(at, arguments)
        }
    }

    fn has(&self, rows: usize) -> bool {
        self.0.len() == rows && self.1.has(rows)
    }
}
