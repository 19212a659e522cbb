//! Every statement of one lease subscription, rendered once at start-up.

use super::{ClaimFrom, Dialect, Event, Many, Names, Starts, Statement};

/// The statements of a lease table.
#[derive(Debug, Clone)]
pub struct LeaseStatements {
    /// Claims return their rows in the claim's order; else whoever sent one sorts them.
    pub claims_are_ordered: bool,
    /// Claims rows.
    pub claims: Starts<Statement>,
    /// Claims rows, and leaves some out by their ids.
    pub claims_except: Starts<Many>,
    /// Claims one row by its id.
    pub claim_one: Statement,
    /// Reads the ids of what a claim would take.
    pub firsts: Starts<Statement>,
    /// Ends rows.
    pub ack: Many,
    /// Returns rows at once.
    pub retry: Many,
    /// Returns rows later; `None` without a `retry_after` column.
    pub retry_after: Option<Many>,
    /// Moves rows to the dead letters; `None` without a group column.
    pub dead_letter: Option<Many>,
    /// Returns rows that nobody started.
    pub give_back: Many,
    /// Renews leases.
    pub renew: Many,
    /// Looks rows up whose outcome is unknown.
    pub look: Many,
}

impl LeaseStatements {
    /// Renders the statements of a table, or nothing where a dialect has none for it.
    #[must_use]
    pub fn new<D: Dialect>(dialect: &D, table: &Names) -> Option<Self> {
        Some(Self {
            claims_are_ordered: D::ORDERED_CLAIMS,
            claims: Starts::new(|from| dialect.claim(table, from))?,
            claims_except: Starts::new(|from| dialect.claim_except(table, from))?,
            claim_one: dialect.claim_one(table)?,
            firsts: Starts::new(|from| dialect.first(table, from))?,
            ack: dialect.settle(table, Event::Ack)?,
            retry: dialect.settle(table, Event::Retry)?,
            retry_after: dialect.settle(table, Event::RetryAfter),
            dead_letter: dialect.settle(table, Event::DeadLetter),
            give_back: dialect.settle(table, Event::GiveBack)?,
            renew: dialect.renew(table)?,
            look: dialect.look(table)?,
        })
    }

    /// The claim that starts somewhere; the one from the beginning where there is no such.
    #[must_use]
    pub fn claim(&self, from: ClaimFrom) -> &Statement {
        self.claims.at(from)
    }

    /// The statement that writes an event, if the table has the columns for it.
    #[must_use]
    pub fn settle(&self, event: Event) -> Option<&Many> {
        match event {
            Event::Ack => Some(&self.ack),
            Event::Retry => Some(&self.retry),
            Event::RetryAfter => self.retry_after.as_ref(),
            Event::DeadLetter => self.dead_letter.as_ref(),
            Event::GiveBack => Some(&self.give_back),
        }
    }

    /// Every text that the subscription can send.
    pub fn all(&self) -> impl Iterator<Item = &Statement> {
        let single = self.claims.all().chain([&self.claim_one]).chain(self.firsts.all());
        let settles = Event::ALL.into_iter().filter_map(|event| self.settle(event));
        let many = self.claims_except.all().chain(settles).chain([&self.renew, &self.look]);
        single.chain(many.flat_map(Many::statements))
    }
}
