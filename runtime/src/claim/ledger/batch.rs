//! Rows of one statement.

use super::Key;
use crate::backend::RowsOf;
use crate::dialect::Event;

/// Rows of one statement: the deliveries, and the values in the same order.
#[derive(Debug)]
pub struct Batch<Id> {
    /// What is written; a renewal has none.
    pub event: Option<Event>,
    /// The deliveries.
    pub keys: Vec<Key>,
    /// Their values.
    pub rows: RowsOf<Id>,
}

impl<Id: Clone> Batch<Id> {
    /// Takes over one row of another batch.
    pub(crate) fn take(&mut self, from: &Self, n: usize) {
        self.keys.push(from.keys[n]);
        self.rows.take(&from.rows, n);
    }

    /// Cuts the batch in two, and returns the rows from `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        Self { event: self.event, keys: self.keys.split_off(at), rows: self.rows.split_off(at) }
    }
}
