//! Every statement of one row-lock subscription, rendered once at start-up.

use super::{ClaimFrom, Dialect, Event, Many, Names, Starts, Statement};

/// The statements of a table whose rows are locked while they are in work.
#[derive(Debug, Clone)]
pub struct RowLockStatements {
    /// Locks rows and reads them.
    pub claims: Starts<Statement>,
    /// Locks rows and reads them, and leaves some out by their ids.
    pub claims_except: Starts<Many>,
    /// Tells whether there are rows, without a transaction.
    pub first: Statement,
    /// What is written to rows before the commit; nothing where the commit alone returns them.
    settles: [Option<Many>; Event::ALL.len()],
}

impl RowLockStatements {
    /// Renders the statements of a table, or nothing where a dialect has none for it. `dead` is the
    /// table of the dead letters, where these are not a group.
    #[must_use]
    pub fn new<D: Dialect>(dialect: &D, table: &Names, dead: Option<&Names>) -> Option<Self> {
        let settle = |event| match (event, dead) {
            (Event::DeadLetter, Some(dead)) => dialect.end_into(table, dead),
            _ => dialect.end(table, event),
        };
        Some(Self {
            claims: Starts::new(|from| dialect.lock(table, from))?,
            claims_except: Starts::new(|from| dialect.lock_except(table, from))?,
            first: dialect.first(table, ClaimFrom::Start)?,
            settles: Event::ALL.map(settle),
        })
    }

    /// The statement that writes an event, if there is something to write.
    #[must_use]
    pub fn settle(&self, event: Event) -> Option<&Many> {
        self.settles[event as usize].as_ref()
    }

    /// Every text that the subscription can send.
    pub fn all(&self) -> impl Iterator<Item = &Statement> {
        let single = self.claims.all().chain([&self.first]);
        let many = self.claims_except.all().chain(self.settles.iter().flatten());
        single.chain(many.flat_map(Many::statements))
    }
}
