//! Every statement of one lease subscription, rendered once at start-up.

use super::{ClaimFrom, Dialect, Event, Many, Names, Plan, Starts, Statement};

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
    /// Renews leases.
    pub renew: Many,
    /// Looks rows up whose outcome is unknown.
    pub look: Many,
    /// What is written to rows; nothing where the table has no column for it.
    settles: Box<[Option<Plan>; Event::ALL.len()]>,
}

impl LeaseStatements {
    /// Renders the statements of a table, or nothing where a dialect has none for it. `dead` is the
    /// table of the dead letters, where these are not a group.
    #[must_use]
    pub fn new<D: Dialect>(dialect: &D, table: &Names, dead: Option<&Names>) -> Option<Self> {
        let settle = |event| match (event, dead) {
            (Event::DeadLetter, Some(dead)) => dialect.settle_into(table, dead),
            _ => dialect.settle(table, event).map(Plan::One),
        };
        Some(Self {
            claims_are_ordered: D::ORDERED_CLAIMS,
            claims: Starts::new(|from| dialect.claim(table, from))?,
            claims_except: Starts::new(|from| dialect.claim_except(table, from))?,
            claim_one: dialect.claim_one(table)?,
            firsts: Starts::new(|from| dialect.first(table, from))?,
            renew: dialect.renew(table)?,
            look: dialect.look(table)?,
            settles: Box::new(Event::ALL.map(settle)),
        })
    }

    /// The claim that starts somewhere; the one from the beginning where there is no such.
    #[must_use]
    pub fn claim(&self, from: ClaimFrom) -> &Statement {
        self.claims.at(from)
    }

    /// How an event is written, if the table has the columns for it.
    #[must_use]
    pub fn settle(&self, event: Event) -> Option<&Plan> {
        self.settles[event as usize].as_ref()
    }

    /// The most rows whose outcomes are written at once.
    #[must_use]
    pub fn max_rows(&self) -> usize {
        let plans = self.settles.iter().flatten();
        plans.map(Plan::max_rows).min().unwrap_or(1)
    }

    /// Every text that the subscription can send.
    pub fn all(&self) -> impl Iterator<Item = &Statement> {
        let single = self.claims.all().chain([&self.claim_one]).chain(self.firsts.all());
        let settles = self.settles.iter().flatten().flat_map(Plan::statements);
        let many = self.claims_except.all().chain([&self.renew, &self.look]);
        single.chain(settles).chain(many.flat_map(Many::statements))
    }
}
