//! Statements on their way: what they are, and how a process sends them.

use std::time::Instant;

use queue_table::__private::lease::{Batch, ClaimFrom, Event, IdOn};

use super::super::mutant::Mutant;
use super::super::process::micros;
use super::super::row::{Asked, Claim, Delivery, Taken};
use super::super::server::Staged;
use super::super::shape::Shape;
use super::super::step::Which;
use super::{World, Wrong};

/// What a statement does.
pub(super) enum What<S: Shape> {
    Claim(Claim),
    Renew(Batch<S::Id>),
    Settle(Batch<S::Id>),
}

pub(super) enum Answer {
    Claimed(Vec<(Taken, Delivery)>),
    Renewed(Vec<(i64, i64)>),
    Settled(Vec<i64>),
}

pub(super) enum State {
    Sent,
    Ran(Answer),
    /// No answer will come.
    Unknown,
}

/// A statement on its way.
pub(super) struct Flight<S: Shape> {
    /// Nobody waits for it any more without a process.
    pub(super) process: Option<usize>,
    pub(super) what: What<S>,
    pub(super) asked: Vec<Asked>,
    pub(super) lease: i64,
    /// The table's clock when it was sent: what is bound where a database binds its time.
    pub(super) sent: i64,
    /// The host's clock when it was sent.
    pub(super) since: Instant,
    pub(super) state: State,
}

impl<S: Shape> Flight<S> {
    pub(super) fn is_of(&self, delivery: Delivery) -> bool {
        self.asked.iter().any(|asked| asked.delivery == delivery)
    }

    pub(super) fn name(&self) -> &'static str {
        match &self.what {
            What::Claim(_) => "claim",
            What::Renew(_) => "renewal",
            What::Settle(batch) => batch.event.map_or("settlement", Event::name),
        }
    }
}

impl<DB: Staged, S: Shape> World<'_, DB, S>
where
    S::Id: IdOn<DB>,
{
    /// Whether a process has a statement of this kind on its way; it has one of each.
    pub(super) fn is_busy(&self, process: usize, kind: fn(&What<S>) -> bool) -> bool {
        let mistaken = self.mutant == Some(Mutant::ReleaseUnknown);
        self.flights.iter().any(|flight| {
            let is_over = mistaken && matches!(flight.state, State::Unknown);
            flight.process == Some(process) && kind(&flight.what) && !is_over
        })
    }

    pub(super) fn send(&mut self, process: usize, what: What<S>, asked: Vec<Asked>) {
        let lease = self.processes[process].lease;
        let (sent, since) = (self.now, self.host);
        let process = Some(process);
        self.flights.push(Flight { process, what, asked, lease, sent, since, state: State::Sent });
    }

    pub(super) fn send_claim(
        &mut self,
        process: usize,
        from: ClaimFrom,
        limit: usize,
        which: Which,
    ) {
        if self.is_busy(process, |what| matches!(what, What::Claim(_))) || !self.server.has(from) {
            return;
        }
        let after = self.processes[process].watermark.filter(|_| from == ClaimFrom::Watermark);
        if after.is_none() && from == ClaimFrom::Watermark {
            return;
        }
        let lease = self.processes[process].lease;
        let open = self.model.open();
        let (mut except, mut one) = (Vec::new(), None);
        match which {
            Which::Except { pick } => except.extend(open.into_iter().skip(pick % 3).step_by(3)),
            Which::One { pick } if !open.is_empty() => one = Some(open[pick % open.len()]),
            Which::All | Which::One { .. } => {}
        }
        let (from, after) = if one.is_some() { (ClaimFrom::Start, None) } else { (from, after) };
        self.note(&format!(
            "p{process} sends a claim of {limit}, {from:?} {after:?} but {except:?}, only {one:?}"
        ));
        let claim = Claim { from, limit, after, except, one, lease };
        self.send(process, What::Claim(claim), Vec::new());
    }

    pub(super) fn send_renewal(&mut self, process: usize) -> Result<(), Wrong> {
        if self.is_busy(process, |what| matches!(what, What::Renew(_))) {
            return Ok(());
        }
        let it = &mut self.processes[process];
        let soon = self.host + micros(it.lease * 3 / 4);
        let batch = it.ledger.next_renewal(3, |ends| ends < soon);
        if batch.keys.is_empty() {
            return Ok(());
        }
        let asked = it.asked(&batch)?;
        self.alone(&asked, None)?;
        let rows: Vec<_> = asked.iter().map(|asked| asked.n).collect();
        self.send(process, What::Renew(batch), asked);
        self.note(&format!("p{process} sends a renewal of {rows:?}"));
        Ok(())
    }

    pub(super) fn send_settlement(&mut self, process: usize) -> Result<(), Wrong> {
        if self.is_busy(process, |what| matches!(what, What::Settle(_))) {
            return Ok(());
        }
        let it = &mut self.processes[process];
        let Some(batch) = it.ledger.next_settlement(self.host, 4) else { return Ok(()) };
        let event = batch.event;
        let asked = it.asked(&batch)?;
        self.alone(&asked, event)?;
        let rows: Vec<_> = asked.iter().map(|asked| asked.n).collect();
        self.send(process, What::Settle(batch), asked);
        self.note(&format!("p{process} sends {:?} of {rows:?}", event.map(Event::name)));
        Ok(())
    }
}
