//! Answers, and no answers: what becomes of them in the claimer, the keeper and the settler.
//!
//! What a look-up decides is decided by the state machine itself.

use std::mem;
use std::time::Instant;

use queue_table::__private::lease::{Batch, Found, IdOn, Renewal, Verdict};

use super::super::mutant::Mutant;
use super::super::process::{Process, micros, part};
use super::super::row::Asked;
use super::super::server::Staged;
use super::super::shape::Shape;
use super::flight::{Answer, Flight, State, What};
use super::{World, Wrong};

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
                self.judge_renewal(process, &batch, &asked, &missing, None).await
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
                self.judge_settlement(process, &batch, &asked, &missing).await.map(drop)
            }
            (What::Renew(batch), State::Unknown) => {
                let all: Vec<_> = (0..asked.len()).collect();
                self.judge_renewal(process, &batch, &asked, &all, Some(ends)).await
            }
            (What::Settle(batch), State::Unknown) => {
                let all: Vec<_> = (0..asked.len()).collect();
                let again = self.judge_settlement(process, &batch, &asked, &all).await?;
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
        perhaps: Option<Instant>,
    ) -> Result<(), Wrong> {
        if places.is_empty() {
            return Ok(());
        }
        let found = self.look(batch, asked, places).await?;
        for (place, found) in places.iter().zip(found) {
            let (key, asked) = (batch.keys[*place], &asked[*place]);
            match self.processes[process].lease_found(key, found, self.host, perhaps) {
                Renewal::Moved { .. } => self.is_taken_over(process, asked)?,
                Renewal::Skipped => {}
                Renewal::Lost => self.is_lost(process, asked, found)?,
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
    ) -> Result<Vec<usize>, Wrong> {
        let mut again = Vec::new();
        if places.is_empty() {
            return Ok(again);
        }
        let found = self.look(batch, asked, places).await?;
        let later = self.host + micros(self.processes[process].lease / 10);
        for (place, found) in places.iter().zip(found) {
            let (key, asked) = (batch.keys[*place], &asked[*place]);
            match self.processes[process].outcome_found(key, found, later) {
                Verdict::Done => self.is_done(asked)?,
                Verdict::Again => again.push(*place),
                Verdict::Later => {}
                Verdict::Lost => self.is_lost(process, asked, found)?,
            }
        }
        Ok(again)
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
            What::Settle(batch) => {
                if self.mutant != Some(Mutant::ForgetUnknown) {
                    self.processes[process].ledger.unanswered(&batch.keys);
                }
                What::Settle(part(batch, &all))
            }
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
