//! What an insert returns.

use crate::claim::{wake, wake_all};

/// A row that was inserted.
#[derive(Debug, Clone)]
pub struct Inserted<Id> {
    /// The row's id.
    pub id: Id,
    pub(super) place: Place,
}

/// Rows that were inserted.
#[derive(Debug, Clone)]
pub struct InsertedMany<Id> {
    /// The rows' ids, in the order of the messages.
    pub ids: Vec<Id>,
    pub(super) place: Place,
}

impl<Id> Inserted<Id> {
    /// Lets the subscriptions of this process claim at once; call it after the commit.
    ///
    /// It is a hint: without it the row is found by the next poll.
    pub fn wake(&self) {
        self.place.wake();
    }
}

impl<Id> InsertedMany<Id> {
    /// Lets the subscriptions of this process claim at once; call it after the commit.
    ///
    /// It is a hint: without it the rows are found by the next poll.
    pub fn wake(&self) {
        self.place.wake();
    }
}

/// Where rows were put: the table, and the group if one was named.
#[derive(Debug, Clone)]
pub(super) struct Place {
    table: String,
    group: Option<String>,
}

impl Place {
    pub(super) fn new(table: &str, group: Option<String>) -> Self {
        Self { table: table.to_owned(), group }
    }

    pub(super) fn wake(&self) {
        match &self.group {
            Some(group) => wake(&self.table, group),
            None => wake_all(&self.table),
        }
    }
}
