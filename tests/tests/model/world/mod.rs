//! One history: processes, one table, two clocks, and statements on their way.

mod answer;
mod check;
mod end;
mod flight;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::{Duration, Instant};

use queue_table::__private::lease::{Event, IdOn, Settlement};

use super::mutant::Mutant;
use super::process::{Process, micros};
use super::row::Delivery;
use super::server::{BEGINNING, Broken, Server, Setup, Staged};
use super::shape::Shape;
use super::step::{LAST, LEASE, PROCESSES, Step};
use super::table::Model;
use flight::{Flight, State, What};

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
}
