//! One history: processes, one table, two clocks, and statements on their way.

mod answer;
mod end;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::{Duration, Instant};

use queue_table::__private::lease::{Batch, ClaimFrom, Event, IdOn, Settlement};

use super::mutant::Mutant;
use super::process::{Process, micros};
use super::server::{BEGINNING, Broken, Server, Setup, Staged};
use super::shape::Shape;
use super::step::{LAST, LEASE, PROCESSES, Step, Which};
use super::table::{Asked, Claim, Delivery, Model, Taken, Times};

/// The most rows that are in the queue at once.
const MOST_OPEN: usize = 8;

/// Why a history ended early.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The queue broke its promise.
    Promise(String),
    /// The test is broken.
    Test(String),
}

impl From<String> for Wrong {
    fn from(text: String) -> Self {
        Self::Promise(text)
    }
}

impl From<&str> for Wrong {
    fn from(text: &str) -> Self {
        Self::Promise(text.to_owned())
    }
}

impl From<Broken> for Wrong {
    fn from(Broken(text): Broken) -> Self {
        Self::Test(text)
    }
}

/// What a statement does.
enum What<S: Shape> {
    Claim(Claim),
    Renew(Batch<S::Id>),
    Settle(Batch<S::Id>),
}

enum Answer {
    Claimed(Vec<(Taken, Delivery)>),
    Renewed(Vec<(i64, i64)>),
    Settled(Vec<i64>),
}

enum State {
    Sent,
    Ran(Answer),
    /// No answer will come.
    Unknown,
}

/// A statement on its way.
struct Flight<S: Shape> {
    /// Nobody waits for it any more without a process.
    process: Option<usize>,
    what: What<S>,
    asked: Vec<Asked>,
    lease: i64,
    /// The table's clock when it was sent: what is bound where a database binds its time.
    sent: i64,
    /// The host's clock when it was sent.
    since: Instant,
    state: State,
}

impl<S: Shape> Flight<S> {
    fn is_of(&self, delivery: Delivery) -> bool {
        self.asked.iter().any(|asked| asked.delivery == delivery)
    }

    fn name(&self) -> &'static str {
        match &self.what {
            What::Claim(_) => "claim",
            What::Renew(_) => "renewal",
            What::Settle(batch) => batch.event.map_or("settlement", Event::name),
        }
    }
}

/// A history while it runs.
pub(crate) struct World<'s, DB: Staged, S: Shape> {
    server: &'s mut Server<DB, S>,
    mutant: Option<Mutant>,
    model: Model,
    processes: Vec<Process<S>>,
    flights: Vec<Flight<S>>,
    /// The table's clock. It can be set.
    now: i64,
    /// The host's clock. It only goes on.
    host: Instant,
    next: Delivery,
    /// Something was written since the table was last compared with the model.
    is_touched: bool,
    /// How often the table's clock was set back, and how often it had been at each claim.
    setbacks: u32,
    born: BTreeMap<Delivery, u32>,
    /// Deliveries of which a statement gave no answer.
    unsure: BTreeSet<Delivery>,
    /// What happened, a line for each step that did something.
    pub(crate) log: Vec<String>,
}

impl<'s, DB: Staged, S: Shape> World<'s, DB, S>
where
    S::Id: IdOn<DB>,
{
    pub(crate) async fn new(
        server: &'s mut Server<DB, S>,
        setup: Setup,
        mutant: Option<Mutant>,
    ) -> Result<Self, Wrong> {
        server.reset(setup, mutant).await?;
        // The last process is of another release, with a shorter lease.
        let lease = |process| if process + 1 == PROCESSES { LEASE * 5 / 8 } else { LEASE };
        Ok(Self {
            server,
            mutant,
            model: Model::new(S::COLUMNS),
            processes: (0..PROCESSES).map(|process| Process::new(lease(process))).collect(),
            flights: Vec::new(),
            now: BEGINNING,
            // The state machine asks the real clock once, in a drain: that must be in the past.
            host: Instant::now() + Duration::from_secs(24 * 3600),
            next: 1,
            is_touched: false,
            setbacks: 0,
            born: BTreeMap::new(),
            unsure: BTreeSet::new(),
            log: Vec::new(),
        })
    }

    fn note(&mut self, line: &str) {
        self.log.push(format!("{:>5}  {line}", self.now - BEGINNING));
    }

    /// Takes a step, and compares all that can be seen with what must be.
    pub(crate) async fn step(&mut self, step: Step) -> Result<(), Wrong> {
        self.take(step).await?;
        if mem::take(&mut self.is_touched) {
            self.check_table().await?;
        }
        self.check_beliefs()
    }

    async fn take(&mut self, step: Step) -> Result<(), Wrong> {
        match step {
            Step::Insert { rows, delay } => {
                // With more of them the same row is hardly ever met twice.
                let room = MOST_OPEN.saturating_sub(self.model.open().len());
                for _ in 0..rows.min(room) {
                    let due = delay.map(|delay| self.now + delay);
                    let due = due.filter(|_| S::COLUMNS.delay.is_some());
                    let n = self.model.insert(due);
                    self.server.insert(n, due).await?;
                    self.is_touched = true;
                    self.note(&format!(
                        "row {n} is inserted, due {:?}",
                        due.map(|due| due - BEGINNING)
                    ));
                }
            }
            Step::Claim { process, from, limit, which } => {
                self.send_claim(process, from, limit, which);
            }
            Step::Start { process } => {
                if let Some(n) = self.processes[process].start(self.host) {
                    self.note(&format!("p{process} starts row {n}"));
                }
            }
            Step::Finish { process, pick, event, delay } => {
                self.finish(process, pick, event, delay);
            }
            Step::Hold { process, pick, wait } => self.hold(process, pick, wait),
            Step::Renew { process } => self.send_renewal(process)?,
            Step::Settle { process } => self.send_settlement(process)?,
            Step::Run { pick } => {
                if let Some(at) = self.flight(pick, |state| matches!(state, State::Sent)) {
                    self.run(at).await?;
                }
            }
            Step::Answer { pick } => {
                if let Some(at) = self.flight(pick, |state| !matches!(state, State::Sent)) {
                    self.answer(at).await?;
                }
            }
            Step::Go { pick } => {
                if let Some(at) = self.flight(pick, |_| true) {
                    let waited_for = self.flights[at].process.is_some();
                    self.run(at).await?;
                    if waited_for {
                        self.answer(at).await?;
                    }
                }
            }
            Step::Lose { pick, late } => {
                if let Some(at) = self.flight(pick, |state| !matches!(state, State::Unknown)) {
                    self.lose_answer(at, late);
                }
            }
            Step::Crash { process, late } => self.crash(process, late),
            Step::GiveBack { process } => {
                self.processes[process].ledger.give_back();
                self.note(&format!("p{process} drains"));
            }
            Step::Pass { micros: passed } => {
                self.now += passed;
                self.host += micros(passed);
                self.note(&format!("{passed} pass"));
            }
            Step::Set { micros } => self.set_clock(micros),
            Step::Delete { pick } | Step::Lock { pick } => {
                let rows = self.model.unlocked();
                if rows.is_empty() || (matches!(step, Step::Lock { .. }) && !DB::LOCKS_ROWS) {
                    return Ok(());
                }
                let n = rows[pick % rows.len()];
                if let Step::Lock { .. } = step {
                    self.model.lock(n);
                    self.server.lock(n).await?;
                    self.note(&format!("the user locks row {n}"));
                } else {
                    self.model.delete(n);
                    self.server.delete(n).await?;
                    self.is_touched = true;
                    self.note(&format!("the user deletes row {n}"));
                }
            }
            Step::Unlock => {
                self.model.unlock();
                self.server.unlock().await?;
                self.note("the user unlocks");
            }
        }
        Ok(())
    }

    async fn check_table(&mut self) -> Result<(), Wrong> {
        let table = self.server.table().await?;
        let expected = self.model.stored().map(|(n, stored)| (n, stored.clone())).collect();
        if table != expected {
            let differ = |n: &&i64| table.get(*n) != expected.get(*n);
            let n = table.keys().chain(expected.keys()).find(differ).copied().unwrap_or_default();
            let (is, must) = (table.get(&n), expected.get(&n));
            return Err(format!("row {n} is {is:?}\n  and must be {must:?}").into());
        }
        Ok(())
    }

    /// Whoever has the token and the count of a row must be who owns it.
    fn check_beliefs(&self) -> Result<(), Wrong> {
        for (process, at) in self.processes.iter().zip(0..) {
            for belief in process.beliefs.values().filter(|belief| belief.is_alive()) {
                let owner = self.model.owner(belief.n);
                let current = self.model.is_current(belief.n, belief.token, belief.attempt + 1);
                if current && owner != Some(belief.delivery) {
                    let (n, delivery) = (belief.n, belief.delivery);
                    let text = format!(
                        "p{at} could settle row {n} for delivery {delivery}, which {owner:?} owns"
                    );
                    return Err(text.into());
                }
            }
        }
        Ok(())
    }

    fn flight(&self, pick: usize, wanted: impl Fn(&State) -> bool) -> Option<usize> {
        let all: Vec<_> =
            (0..self.flights.len()).filter(|at| wanted(&self.flights[*at].state)).collect();
        match pick {
            LAST => all.last().copied(),
            _ => all.get(pick % all.len().max(1)).copied(),
        }
    }

    fn set_clock(&mut self, by: i64) {
        if by < 0 {
            // A look-up takes a lease for its own if the one before is in force, and a claim of
            // somebody else before the clock went back makes that wrong: no statement can tell.
            let looked_up = self.flights.iter().any(|flight| {
                matches!((&flight.what, &flight.state), (What::Renew(_), State::Unknown))
            });
            // Where times are bound, a statement on its way would bring back the time before.
            let bound = DB::BINDS_NOW
                && self.flights.iter().any(|flight| matches!(flight.state, State::Sent));
            if looked_up || bound {
                return;
            }
            self.setbacks += 1;
        }
        self.now += by;
        self.note(&format!("the table's clock is set by {by}"));
    }

    fn finish(&mut self, process: usize, pick: usize, event: Event, delay: i64) {
        let it = &mut self.processes[process];
        if it.running.is_empty() {
            return;
        }
        let key = it.running.swap_remove(pick % it.running.len());
        let settlement = it.settlement(key, event, delay);
        let (n, event) = (S::n(it.ledger.id(key)), settlement.event);
        let written = it.ledger.finish(key, settlement, Some(micros(1)));
        if !written {
            it.beliefs.remove(&key);
        }
        let lost = if written { "" } else { ", and had lost it" };
        self.note(&format!("p{process} is done with row {n}: {}{lost}", event.name()));
    }

    fn hold(&mut self, process: usize, pick: usize, wait: i64) {
        let it = &mut self.processes[process];
        if it.running.is_empty() {
            return;
        }
        let key = it.running.swap_remove(pick % it.running.len());
        let n = S::n(it.ledger.id(key));
        it.ledger.hold(key, self.host + micros(wait), Settlement::new(Event::Retry));
        self.note(&format!("p{process} holds row {n} for {wait}"));
    }

    /// Whether a process has a statement of this kind on its way; it has one of each.
    fn is_busy(&self, process: usize, kind: fn(&What<S>) -> bool) -> bool {
        let mistaken = self.mutant == Some(Mutant::ReleaseUnknown);
        self.flights.iter().any(|flight| {
            let is_over = mistaken && matches!(flight.state, State::Unknown);
            flight.process == Some(process) && kind(&flight.what) && !is_over
        })
    }

    fn send(&mut self, process: usize, what: What<S>, asked: Vec<Asked>) {
        let lease = self.processes[process].lease;
        let (sent, since) = (self.now, self.host);
        let process = Some(process);
        self.flights.push(Flight { process, what, asked, lease, sent, since, state: State::Sent });
    }

    fn send_claim(&mut self, process: usize, from: ClaimFrom, limit: usize, which: Which) {
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

    fn send_renewal(&mut self, process: usize) -> Result<(), Wrong> {
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

    fn send_settlement(&mut self, process: usize) -> Result<(), Wrong> {
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

    /// Nothing else may be on its way for a delivery, and what is unknown is never released.
    fn alone(&self, asked: &[Asked], event: Option<Event>) -> Result<(), Wrong> {
        for Asked { n, delivery, .. } in asked {
            let earlier = self
                .flights
                .iter()
                .find(|flight| flight.process.is_some() && flight.is_of(*delivery));
            let Some(earlier) = earlier else { continue };
            let what = event.map_or("renewed", |event| match event {
                Event::Ack => "settled",
                _ => "released",
            });
            let state = match earlier.state {
                State::Unknown => "of which nobody knows whether it ran",
                State::Sent | State::Ran(_) => "which is not answered",
            };
            let name = earlier.name();
            return Err(format!("row {n} is {what} after a {name} {state}").into());
        }
        Ok(())
    }

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
    async fn run(&mut self, at: usize) -> Result<(), Wrong> {
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
