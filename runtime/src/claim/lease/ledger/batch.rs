//! Rows of one statement.

use super::{Claimed, Key};
use crate::backend::RowsOf;
use crate::descriptor::TimeForm;
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

impl<Id: Clone + Ord> Batch<Id> {
    /// Rows that have no delivery in the ledger.
    pub(crate) fn of<Row>(
        form: TimeForm,
        event: Event,
        rows: impl Iterator<Item = Claimed<Id, Row>>,
    ) -> Self {
        let mut sorted: Vec<_> = rows.collect();
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        let mut batch = Self { event: Some(event), keys: Vec::new(), rows: RowsOf::new(form) };
        for Claimed { id, token, attempt, .. } in sorted {
            batch.rows.push(id, token, attempt + 1);
        }
        batch
    }

    /// No rows of the same statement.
    pub(crate) const fn none(&self) -> Self {
        Self { event: self.event, keys: Vec::new(), rows: self.rows.empty() }
    }

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
