//! The end of a history: everything that was inserted is settled, once.

use queue_table::__private::lease::{ClaimFrom, Event, IdOn};

use super::super::process::{Process, micros};
use super::super::server::Staged;
use super::super::shape::Shape;
use super::super::step::{LAST, LEASE, Step, Which};
use super::flight::State;
use super::{World, Wrong};

/// Enough rounds for every process to settle all that it has.
const ROUNDS: usize = 40;

impl<DB: Staged, S: Shape> World<'_, DB, S>
where
    S::Id: IdOn<DB>,
{
    /// Takes all steps, and ends.
    pub(crate) async fn all(&mut self, steps: &[Step]) -> Result<(), Wrong> {
        for step in steps {
            self.step(*step).await?;
        }
        self.end().await
    }

    /// Lets every process drain, then one claim and settle all that is left.
    async fn end(&mut self) -> Result<(), Wrong> {
        self.step(Step::Unlock).await?;
        for process in 0..self.processes.len() {
            self.step(Step::GiveBack { process }).await?;
            while !self.processes[process].running.is_empty() {
                let event = Event::Retry;
                self.step(Step::Finish { process, pick: 0, event, delay: 0 }).await?;
            }
        }
        for _ in 0..ROUNDS {
            // Rows of a claim whose answer is only read now come too late for a handler.
            for process in 0..self.processes.len() {
                self.step(Step::GiveBack { process }).await?;
                self.step(Step::Settle { process }).await?;
            }
            while !self.flights.is_empty() {
                let is_sent = matches!(self.flights.last().map(|f| &f.state), Some(State::Sent));
                let step =
                    if is_sent { Step::Run { pick: LAST } } else { Step::Answer { pick: LAST } };
                let before = self.log.len();
                self.step(step).await?;
                if self.log.len() == before {
                    return Err("a statement waits for its answer for ever".into());
                }
            }
            if self.processes.iter().all(|process| process.ledger.is_empty()) {
                break;
            }
            self.step(Step::Pass { micros: LEASE / 4 }).await?;
        }
        for (process, at) in self.processes.iter().zip(0..) {
            if !process.ledger.is_empty() {
                let left = process.ledger.len();
                return Err(format!("p{at} still has {left} rows after its drain").into());
            }
        }
        self.settle_the_rest().await
    }

    /// After every lease and every delay one process finds all rows that are left.
    async fn settle_the_rest(&mut self) -> Result<(), Wrong> {
        let latest = self.model.stored().flat_map(|(_, row)| [row.locked_until, row.retry_after]);
        let latest = latest.flatten().max().unwrap_or_default().max(self.now) + 1;
        self.host += micros(latest - self.now);
        self.now = latest;
        self.processes[0] = Process::new(LEASE);
        let before = self.model.open();
        self.step(Step::Claim {
            process: 0,
            from: ClaimFrom::Start,
            limit: 1000,
            which: Which::All,
        })
        .await?;
        self.step(Step::Go { pick: LAST }).await?;
        while self.processes[0].ledger.buffered() > 0 {
            self.step(Step::Start { process: 0 }).await?;
            self.step(Step::Finish { process: 0, pick: 0, event: Event::Ack, delay: 0 }).await?;
        }
        while !self.processes[0].ledger.is_empty() {
            self.step(Step::Settle { process: 0 }).await?;
            self.step(Step::Go { pick: LAST }).await?;
        }
        match self.model.open() {
            open if open.is_empty() => Ok(()),
            open => Err(format!("of {before:?}, these rows are left for ever: {open:?}").into()),
        }
    }
}
