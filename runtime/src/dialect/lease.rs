//! Every statement of one lease subscription, rendered once at start-up.

use super::{ClaimFrom, Dialect, Event, Many, Names, Statement};

/// The statements of a lease table.
#[derive(Debug, Clone)]
pub struct LeaseStatements {
    /// Claims return their rows in the claim's order; else whoever sent one sorts them.
    pub claims_are_ordered: bool,
    /// Claims from the beginning of the order.
    pub claim: Statement,
    /// Claims past a watermark, where the database gains by it.
    pub claim_watermark: Option<Statement>,
    /// Claims due retries only, where fresh rows could starve them.
    pub claim_retries: Option<Statement>,
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
            claim: dialect.claim(table, ClaimFrom::Start)?,
            claim_watermark: dialect.claim(table, ClaimFrom::Watermark),
            claim_retries: dialect.claim(table, ClaimFrom::Retries),
            ack: dialect.settle(table, Event::Ack)?,
            retry: dialect.settle(table, Event::Retry)?,
            retry_after: dialect.settle(table, Event::RetryAfter),
            dead_letter: dialect.settle(table, Event::DeadLetter),
            give_back: dialect.settle(table, Event::GiveBack)?,
            renew: dialect.renew(table),
            look: dialect.look(table),
        })
    }

    /// The claim that starts somewhere; the one from the beginning where there is no such.
    #[must_use]
    pub fn claim(&self, from: ClaimFrom) -> &Statement {
        let other = match from {
            ClaimFrom::Start => None,
            ClaimFrom::Watermark => self.claim_watermark.as_ref(),
            ClaimFrom::Retries => self.claim_retries.as_ref(),
        };
        other.unwrap_or(&self.claim)
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
        let claims =
            [Some(&self.claim), self.claim_watermark.as_ref(), self.claim_retries.as_ref()];
        let settles = Event::ALL.into_iter().filter_map(|event| self.settle(event));
        let others = [&self.renew, &self.look];
        claims.into_iter().flatten().chain(settles.chain(others).flat_map(Many::statements))
    }
}
