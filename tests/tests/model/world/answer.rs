//! Answers, and no answers: what the claimer, the keeper and the settler make of them.
//!
//! The decisions are those of `claim/keeper.rs` and `settle/settler.rs`.

use std::mem;

use queue_table::__private::lease::{Batch, IdOn};

use super::super::mutant::Mutant;
use super::super::process::{Process, micros, part};
use super::super::server::Staged;
use super::super::shape::Shape;
use super::super::table::{Asked, End, Found};
use super::{Answer, Flight, State, What, World, Wrong};

impl<DB: Staged, S: Shape> World<'_, DB, S>
where
    S::Id: IdOn<DB>,
{
    /// A process learns what became of its statement.
    pub(super) async fn answer(&mut self, at: usize) -> Result<(), Wrong> {
        let mutant = self.mutant == Some(Mutant::ReleaseUnknown);
        if mutant && matches!(self.flights[at].state, State::Unknown) {
            let flight = self.flights.remove(at);
            self.note(&format!("nobody looks up the {}", flight.name()));
            return Ok(());
        }
        let Flight { process, what, asked, lease, sent, since, state } = self.flights.remove(at);
        let Some(process) = process else { return Ok(()) };
        let ends = since + micros(lease);
        let name = match (&what, &state) {
            (What::Claim(_), _) => "claim",
            (_, State::Unknown) => "look-up",
            (What::Renew(_), _) => "renewal",
            (What::Settle(_), _) => "settlement",
        };
        self.note(&format!("p{process} has the answer to its {name}"));
        match (what, state) {
            (What::Claim(claim), State::Ran(Answer::Claimed(taken))) => {
                self.processes[process].claimed(&claim, taken, ends);
                Ok(())
            }
            (What::Renew(batch), State::Ran(Answer::Renewed(renewed))) => {
                let mut missing = Vec::new();
                for (place, asked) in asked.iter().enumerate() {
                    let key = batch.keys[place];
                    match renewed.iter().find(|(n, _)| *n == asked.n) {
                        Some((_, token)) => self.processes[process].renewed(key, *token, ends),
                        None => missing.push(place),
                    }
                }
                self.judge_renewal(process, &batch, &asked, &missing, false).await
            }
            (What::Settle(batch), State::Ran(Answer::Settled(settled))) => {
                let mut missing = Vec::new();
                for (place, asked) in asked.iter().enumerate() {
                    if settled.contains(&asked.n) {
                        self.processes[process].remove(batch.keys[place]);
                    } else {
                        missing.push(place);
                    }
                }
                self.judge_settlement(process, &batch, &asked, &missing, false).await.map(drop)
            }
            (What::Renew(batch), State::Unknown) => {
                let all: Vec<_> = (0..asked.len()).collect();
                self.judge_renewal(process, &batch, &asked, &all, true).await
            }
            (What::Settle(batch), State::Unknown) => {
                let all: Vec<_> = (0..asked.len()).collect();
                let again = self.judge_settlement(process, &batch, &asked, &all, true).await?;
                if !again.is_empty() {
                    let asked = again.iter().map(|place| asked[*place].clone()).collect();
                    self.note(&format!("p{process} sends it again for {again:?}"));
                    self.send(process, What::Settle(part(&batch, &again)), asked);
                }
                Ok(())
            }
            (What::Claim(_), State::Unknown) => Ok(()),
            (what, state) => {
                self.flights.insert(
                    at,
                    Flight { process: Some(process), what, asked, lease, sent, since, state },
                );
                Ok(())
            }
        }
    }

    async fn look(
        &mut self,
        batch: &Batch<S::Id>,
        asked: &[Asked],
        places: &[usize],
    ) -> Result<Vec<Found>, Wrong> {
        let asked: Vec<_> = places.iter().map(|place| asked[*place].clone()).collect();
        let found = self.server.look(&part(batch, places).rows, self.now).await?;
        let times = self.server.times(self.now);
        self.model.look(&asked, times, &found)?;
        Ok(found)
    }

    async fn judge_renewal(
        &mut self,
        process: usize,
        batch: &Batch<S::Id>,
        asked: &[Asked],
        places: &[usize],
        perhaps_renewed: bool,
    ) -> Result<(), Wrong> {
        if places.is_empty() {
            return Ok(());
        }
        let found = self.look(batch, asked, places).await?;
        for (place, found) in places.iter().zip(found) {
            let (key, asked) = (batch.keys[*place], &asked[*place]);
            let it = &mut self.processes[process];
            match found {
                Found { state: 1, .. } => it.ledger.not_renewed(key),
                Found { state: 2, in_force: true, current: Some(current) }
                    if perhaps_renewed && current > asked.token =>
                {
                    let left = micros(current - self.now).min(micros(it.lease));
                    it.renewed(key, current, self.host + left);
                    if self.model.owner(asked.n) != Some(asked.delivery) {
                        let n = asked.n;
                        return Err(format!("p{process} takes over a lease of row {n}").into());
                    }
                }
                _ => {
                    it.lose(key);
                    self.is_lost(process, asked)?;
                }
            }
        }
        Ok(())
    }

    /// Says which places of the batch are settled again.
    async fn judge_settlement(
        &mut self,
        process: usize,
        batch: &Batch<S::Id>,
        asked: &[Asked],
        places: &[usize],
        perhaps_settled: bool,
    ) -> Result<Vec<usize>, Wrong> {
        let mut again = Vec::new();
        if places.is_empty() {
            return Ok(again);
        }
        let found = self.look(batch, asked, places).await?;
        for (place, found) in places.iter().zip(found) {
            let (key, asked) = (batch.keys[*place], &asked[*place]);
            let later = self.host + micros(self.processes[process].lease / 10);
            match found {
                Found { state: 1, .. } if perhaps_settled => again.push(*place),
                Found { state: 1, .. } => self.processes[process].ledger.ask_again(key, later),
                Found { state: 0, in_force: true, .. } if perhaps_settled => {
                    self.processes[process].remove(key);
                    self.is_done(asked)?;
                }
                _ => {
                    self.processes[process].remove(key);
                    self.is_lost(process, asked)?;
                }
            }
        }
        Ok(again)
    }

    /// A process calls a delivery done: nobody else may have ended its row. Whose clock was set
    /// back since the claim cannot know that, and nothing depends on it.
    fn is_done(&self, asked: &Asked) -> Result<(), Wrong> {
        let Asked { n, delivery, .. } = asked;
        let set_back = self.born.get(delivery) != Some(&self.setbacks);
        match self.model.end(*n) {
            Some(End::Acked(by) | End::DeadLetter(by)) if by == *delivery => Ok(()),
            Some(End::Deleted) => Ok(()),
            _ if set_back => Ok(()),
            end => Err(format!("delivery {delivery} of row {n} is called done: {end:?}").into()),
        }
    }

    /// A process gives a delivery up: the row must be somebody else's, or nobody's. Where a
    /// statement of the delivery gave no answer, it may have another token than its process knows.
    fn is_lost(&self, process: usize, asked: &Asked) -> Result<(), Wrong> {
        let Asked { n, delivery, token, .. } = asked;
        let owns = self.model.owner(*n) == Some(*delivery);
        let knows =
            !self.unsure.contains(delivery) || self.model.is_current(*n, *token, asked.attempt);
        match owns && knows {
            true => Err(format!("p{process} gives up row {n}, which it owns").into()),
            false => Ok(()),
        }
    }

    /// The connection of a statement is lost.
    pub(super) fn lose_answer(&mut self, at: usize, late: bool) {
        let flight = &self.flights[at];
        let Some(process) = flight.process else { return };
        let name = flight.name();
        // A look-up takes what it finds in force for its own; see `set_clock`.
        let set_back = |asked: &Asked| self.born.get(&asked.delivery) != Some(&self.setbacks);
        if matches!(flight.what, What::Renew(_)) && flight.asked.iter().any(set_back) {
            return;
        }
        let waits = matches!(flight.state, State::Sent);
        let fate = match (waits, late) {
            (true, true) => "runs later",
            (true, false) => "never runs",
            (false, _) => "ran",
        };
        self.note(&format!("the {name} of p{process} gives no answer; it {fate}"));
        let flight = &mut self.flights[at];
        self.unsure.extend(flight.asked.iter().map(|asked| asked.delivery));
        let all: Vec<_> = (0..flight.asked.len()).collect();
        let later = match &flight.what {
            // Nobody knows which rows it took: they wait for the end of their leases.
            What::Claim(_) => {
                self.processes[process].watermark = None;
                flight.process = None;
                if !(waits && late) {
                    self.flights.remove(at);
                }
                return;
            }
            What::Renew(batch) => What::Renew(part(batch, &all)),
            What::Settle(batch) => What::Settle(part(batch, &all)),
        };
        flight.state = State::Unknown;
        if waits && late {
            let (asked, lease) = (flight.asked.clone(), flight.lease);
            let (sent, since, state) = (flight.sent, flight.since, State::Sent);
            let process = None;
            let later = Flight { process, what: later, asked, lease, sent, since, state };
            self.flights.insert(at, later);
        }
        let lost = if waits && late { at + 1 } else { at };
        if self.mutant == Some(Mutant::ReleaseUnknown) {
            release(&mut self.processes[process], &self.flights[lost]);
        }
    }

    /// A process dies, with all that it knew.
    pub(super) fn crash(&mut self, process: usize, late: bool) {
        let lease = self.processes[process].lease;
        self.processes[process] = Process::new(lease);
        for mut flight in mem::take(&mut self.flights) {
            if flight.process == Some(process) {
                if !late || !matches!(flight.state, State::Sent) {
                    continue;
                }
                flight.process = None;
            }
            self.flights.push(flight);
        }
        self.note(&format!(
            "p{process} dies; what it sent {}",
            if late { "runs later" } else { "is gone" }
        ));
    }
}

/// The mistake: what is unknown is taken for not done.
fn release<S: Shape>(process: &mut Process<S>, flight: &Flight<S>) {
    match &flight.what {
        What::Renew(batch) => batch.keys.iter().for_each(|key| process.ledger.not_renewed(*key)),
        What::Settle(batch) => {
            batch.keys.iter().for_each(|key| process.ledger.ask_again(*key, flight.since));
        }
        What::Claim(_) => {}
    }
}
