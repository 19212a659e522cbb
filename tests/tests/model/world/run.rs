//! A statement runs in the database.

use queue_table::__private::lease::{Event, IdOn};

use super::super::row::{Asked, Times};
use super::super::server::Staged;
use super::super::shape::Shape;
use super::flight::{Answer, Flight, State, What};
use super::{World, Wrong};

impl<DB: Staged, S: Shape> World<'_, DB, S>
where
    S::Id: IdOn<DB>,
{
    /// Lets the table's clock go on by a microsecond where a statement would write the very time
    /// that somebody who lost the row still has as his token. That takes a clock that was set back,
    /// or a row that goes through many hands, and then one microsecond of all: no statement could
    /// tell them apart.
    fn avoid_coincidences(&mut self, at: usize) -> Times {
        loop {
            let flight = &self.flights[at];
            let times = self.server.times(if DB::BINDS_NOW { flight.sent } else { self.now });
            let counts = i64::from(S::COLUMNS.attempt.is_some());
            let writes: Vec<_> = match &flight.what {
                What::Claim(claim) => {
                    let taken = self.model.claimable(claim, times).into_iter();
                    taken.map(|taken| (taken.n, taken.token, taken.attempt + counts)).collect()
                }
                What::Renew(_) => {
                    let until = times.write + flight.lease;
                    let token = |asked: &Asked| until.max(asked.token + 1);
                    let asked = flight.asked.iter();
                    asked.map(|asked| (asked.n, token(asked), asked.attempt)).collect()
                }
                What::Settle(batch) if batch.event == Some(Event::GiveBack) => {
                    let asked = flight.asked.iter();
                    asked.map(|asked| (asked.n, times.write, asked.attempt - counts)).collect()
                }
                What::Settle(batch) if batch.event == Some(Event::Release) => {
                    let asked = flight.asked.iter();
                    asked.map(|asked| (asked.n, times.write, asked.attempt)).collect()
                }
                What::Settle(_) => Vec::new(),
            };
            let others = self.flights.iter().zip(0..).filter(|(_, other)| *other != at);
            let sent = others.flat_map(|(flight, _)| &flight.asked);
            let sent = sent.map(|asked| (asked.n, asked.token, asked.attempt));
            let believed = self.processes.iter().flat_map(|process| {
                let beliefs = process.beliefs.values().chain(&process.spent);
                beliefs.filter(|belief| belief.is_alive())
            });
            let believed = believed.map(|belief| (belief.n, belief.token, belief.attempt + counts));
            let same = |(n, token, count): (i64, i64, i64)| {
                writes.iter().any(|write| {
                    let (row, written, stored) = *write;
                    n == row && token == written && (counts == 0 || count == stored)
                })
            };
            if !sent.chain(believed).any(same) {
                return times;
            }
            if DB::BINDS_NOW {
                self.flights[at].sent += 1;
            } else {
                self.now += 1;
            }
        }
    }

    /// A statement runs in the database.
    pub(super) async fn run(&mut self, at: usize) -> Result<(), Wrong> {
        if !matches!(self.flights[at].state, State::Sent) {
            return Ok(());
        }
        let times = self.avoid_coincidences(at);
        self.is_touched = true;
        let Flight { what, asked, lease, .. } = &self.flights[at];
        let answer = match what {
            What::Claim(claim) => {
                let first = self.server.first(claim, times.start).await?;
                self.model.first(claim, times, &first)?;
                let got = self.server.claim(claim, times.start).await?;
                let first = self.next;
                let deliveries = self.model.claim(claim, times, first, &got)?;
                for delivery in &deliveries {
                    self.born.insert(*delivery, self.setbacks);
                    self.next = delivery + 1;
                }
                Answer::Claimed(got.into_iter().zip(deliveries).collect())
            }
            What::Renew(batch) => {
                let got = self.server.renew(&batch.rows, times.start, *lease).await?;
                self.model.renew(asked, times, *lease, &got)?;
                Answer::Renewed(got)
            }
            What::Settle(batch) => {
                let event = batch.event.ok_or("a settlement without an event")?;
                let got = self.server.settle(event, &batch.rows, times.start, *lease).await?;
                self.model.settle(event, asked, times, &got)?;
                Answer::Settled(got)
            }
        };
        let changed: Vec<_> = match &answer {
            Answer::Claimed(taken) => taken.iter().map(|(taken, _)| taken.n).collect(),
            Answer::Renewed(renewed) => renewed.iter().map(|(n, _)| *n).collect(),
            Answer::Settled(settled) => settled.clone(),
        };
        let flight = &mut self.flights[at];
        flight.state = State::Ran(answer);
        let whose = flight.process.map_or("somebody".to_owned(), |process| format!("p{process}"));
        let name = flight.name();
        let nobody_waits = flight.process.is_none();
        self.note(&format!("the {name} of {whose} runs and changes {changed:?}"));
        if nobody_waits {
            self.flights.remove(at);
        }
        Ok(())
    }
}
