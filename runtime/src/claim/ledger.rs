//! The state machine of lease deliveries: which rows this process holds, and what may happen to
//! each of them next.
//!
//! ARCHITECTURE.md draws it. It knows no database and waits for nothing; the claimer, the keeper,
//! the settler and the workers move it, and the model test moves it against real statements.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use slab::Slab;
use tokio_util::sync::CancellationToken;

use crate::backend::RowsOf;
use crate::descriptor::TimeForm;
use crate::dialect::Event;
use crate::settle::Settlement;

/// Names a delivery in the ledger while it is there.
pub type Key = usize;

/// A row as a claim returned it.
#[derive(Debug, Clone)]
pub struct Claimed<Id, Row> {
    /// The primary key.
    pub id: Id,
    /// What the claim wrote to `locked_until`, in microseconds since 1970.
    pub token: i64,
    /// The number of this delivery.
    pub attempt: i64,
    /// What the handler is given.
    pub row: Row,
}

/// What the next delivery works on.
#[derive(Debug)]
pub struct Work<Row> {
    /// The delivery.
    pub key: Key,
    /// The number of this delivery.
    pub attempt: i64,
    /// What the handler is given.
    pub row: Row,
}

/// Rows of one statement: the deliveries, and the values in the same order.
#[derive(Debug)]
pub struct Batch<Id> {
    /// What is written; a renewal has none.
    pub event: Option<Event>,
    /// The deliveries.
    pub keys: Vec<Key>,
    /// Their values.
    pub rows: RowsOf<Id>,
}

impl<Id: Clone> Batch<Id> {
    /// Takes over one row of another batch.
    pub(crate) fn take(&mut self, from: &Self, n: usize) {
        self.keys.push(from.keys[n]);
        self.rows.take(&from.rows, n);
    }

    /// Cuts the batch in two, and returns the rows from `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        Self { event: self.event, keys: self.keys.split_off(at), rows: self.rows.split_off(at) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Claimed, and no worker has it yet.
    Buffered,
    /// A handler has it.
    Running,
    /// Nobody can work on it now: it is kept, and returned later.
    Held,
    /// Its outcome waits to be written.
    Waiting,
    /// A statement with its outcome is on its way.
    Settling,
}

#[derive(Debug)]
struct Entry<Id, Row> {
    id: Id,
    token: i64,
    attempt: i64,
    row: Option<Row>,
    state: State,
    /// A renewal with this row is on its way: nothing else may be sent about the row.
    renewing: bool,
    /// Somebody else has the row. Whatever the handler says is of no effect.
    lost: bool,
    /// When the lease ends, by this host's monotonic clock, from before the statement was sent.
    ends: Instant,
    settlement: Settlement,
    cancellation: Option<CancellationToken>,
}

/// The deliveries of one lease subscription.
#[derive(Debug)]
pub struct Ledger<Id, Row> {
    form: TimeForm,
    entries: Slab<Entry<Id, Row>>,
    buffer: VecDeque<Key>,
    waiting: [VecDeque<Key>; Event::ALL.len()],
    /// What is held or asked again, and when.
    later: Vec<(Instant, Key)>,
    /// Whose turn it is among the outcomes that wait.
    turn: usize,
    running: usize,
    /// Handler time of one row, averaged; zero until one has finished.
    handler_time: Duration,
}

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
    /// An empty ledger of a table whose leases are written as `form`.
    #[must_use]
    pub fn new(form: TimeForm) -> Self {
        Self {
            form,
            entries: Slab::new(),
            buffer: VecDeque::new(),
            waiting: Default::default(),
            later: Vec::new(),
            turn: 0,
            running: 0,
            handler_time: Duration::ZERO,
        }
    }

    /// The rows that are claimed and that no worker has.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// The rows that handlers work on.
    #[must_use]
    pub const fn running(&self) -> usize {
        self.running
    }

    /// All rows that are not settled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether every row is settled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How long a handler took for a row, averaged over the last ones.
    #[must_use]
    pub const fn handler_time(&self) -> Duration {
        self.handler_time
    }

    /// Takes a claimed row into the buffer. Its lease ends at `ends`.
    pub fn claimed(&mut self, claimed: Claimed<Id, Row>, ends: Instant) -> Key {
        let Claimed { id, token, attempt, row } = claimed;
        let key = self.entries.insert(Entry {
            id,
            token,
            attempt,
            row: Some(row),
            state: State::Buffered,
            renewing: false,
            lost: false,
            ends,
            settlement: Settlement::new(Event::GiveBack),
            cancellation: None,
        });
        self.buffer.push_back(key);
        key
    }

    /// Takes a claimed row that no handler may get, with what is written instead.
    pub fn claimed_for(
        &mut self,
        claimed: Claimed<Id, Row>,
        ends: Instant,
        settlement: Settlement,
    ) {
        let key = self.claimed(claimed, ends);
        self.buffer.pop_back();
        self.wait(key, settlement);
    }

    /// Hands the next row to a worker.
    ///
    /// A row whose lease ran out while it was buffered is not started: another process may have it.
    pub fn start(&mut self, now: Instant) -> Option<Work<Row>> {
        while let Some(key) = self.buffer.pop_front() {
            let entry = &mut self.entries[key];
            match entry.row.take() {
                Some(row) if !entry.lost && now < entry.ends => {
                    entry.state = State::Running;
                    self.running += 1;
                    return Some(Work { key, attempt: entry.attempt, row });
                }
                // The renewal that is on its way still names the key; its answer removes it.
                _ if entry.renewing => entry.lost = true,
                _ => drop(self.entries.remove(key)),
            }
        }
        None
    }

    /// A token that fires when the delivery has lost its row.
    pub fn cancellation(&mut self, key: Key) -> CancellationToken {
        let entry = &mut self.entries[key];
        let token = entry.cancellation.get_or_insert_default().clone();
        if entry.lost {
            token.cancel();
        }
        token
    }

    /// Tells every handler that asked for it that its time is nearly over.
    pub fn cancel_all(&self) {
        let tokens = self.entries.iter().filter_map(|(_, entry)| entry.cancellation.as_ref());
        tokens.for_each(CancellationToken::cancel);
    }

    /// A handler is done with its row. `false`: the row was lost, and nothing will be written.
    pub fn finish(&mut self, key: Key, settlement: Settlement, took: Option<Duration>) -> bool {
        self.running -= 1;
        if let Some(took) = took {
            self.handler_time = (self.handler_time * 7 + took) / 8;
        }
        self.wait(key, settlement)
    }

    /// Whether the last outcome is the only one that waits, so that the settler must be told.
    #[must_use]
    pub fn is_first_waiting(&self) -> bool {
        self.waiting.iter().map(VecDeque::len).sum::<usize>() == 1
    }

    /// Nobody can work on the row now: keeps it leased until `until`, and then settles it.
    pub fn hold(&mut self, key: Key, until: Instant, settlement: Settlement) {
        self.running -= 1;
        let entry = &mut self.entries[key];
        entry.state = State::Held;
        entry.settlement = settlement;
        self.later.push((until, key));
    }

    fn wait(&mut self, key: Key, settlement: Settlement) -> bool {
        let entry = &mut self.entries[key];
        if entry.lost && !entry.renewing {
            self.entries.remove(key);
            return false;
        }
        entry.state = State::Waiting;
        entry.settlement = settlement;
        // A settlement waits only for a renewal of its own row: it needs the renewal's token.
        if !entry.renewing {
            self.waiting[entry.settlement.event as usize].push_back(key);
        }
        !entry.lost
    }

    /// Settles every buffered row as given back, and every held one as it was to be settled.
    pub fn give_back(&mut self) {
        for key in std::mem::take(&mut self.buffer) {
            self.wait(key, Settlement::new(Event::GiveBack));
        }
        for (at, _) in &mut self.later {
            // Whatever was to be asked later is asked now.
            *at = Instant::now();
        }
    }

    /// When something that was put off is next due.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        self.later.iter().map(|(at, _)| *at).min()
    }

    /// Takes the outcomes of one kind that wait, at most `max` of them: one statement.
    pub fn next_settlement(&mut self, now: Instant, max: usize) -> Option<Batch<Id>> {
        if !self.later.is_empty()
            && let Some(asked) = self.asked_again(now, max)
        {
            return Some(asked);
        }
        // In turn, so that a stream of acks does not starve a single retry.
        let events = Event::ALL.len();
        let turns = (0..events).map(|n| (self.turn + n) % events);
        let turn = turns.into_iter().find(|turn| !self.waiting[*turn].is_empty())?;
        self.turn = turn + 1;
        let queue = &mut self.waiting[turn];
        let keys: Vec<_> = queue.drain(..queue.len().min(max)).collect();
        Some(self.batch(Event::ALL[turn], keys))
    }

    /// What was put off and is due: what was held waits with the others, and what somebody else had
    /// locked is asked again in a statement of its own, so that it never holds up the others.
    fn asked_again(&mut self, now: Instant, max: usize) -> Option<Batch<Id>> {
        let (due, later) = self.later.drain(..).partition(|(at, _)| *at <= now);
        self.later = later;
        let mut again = Vec::new();
        let mut event = None;
        for (at, key) in due {
            let entry = &self.entries[key];
            let its = entry.settlement.event;
            if entry.state == State::Held {
                let settlement = entry.settlement.clone();
                self.wait(key, settlement);
            } else if again.len() < max && event.is_none_or(|event| event == its) {
                event = Some(its);
                again.push(key);
            } else {
                self.later.push((at, key));
            }
        }
        event.map(|event| self.batch(event, again))
    }

    fn batch(&mut self, event: Event, mut keys: Vec<Key>) -> Batch<Id> {
        // In one order everywhere, so that two statements never wait for each other in a circle.
        keys.sort_by(|a, b| self.entries[*a].id.cmp(&self.entries[*b].id));
        let mut rows = RowsOf::new(self.form);
        for &key in &keys {
            let entry = &mut self.entries[key];
            entry.state = State::Settling;
            // The id is cloned, because the entry needs its own until the answer is there.
            rows.push(entry.id.clone(), entry.token, entry.attempt + 1);
            rows.reasons.push(entry.settlement.reason.clone());
            rows.delays.push(entry.settlement.delay);
        }
        Batch { event: Some(event), keys, rows }
    }

    /// The delivery is over: its outcome is written, or never will be.
    pub fn remove(&mut self, key: Key) {
        self.entries.remove(key);
    }

    /// The row is locked by somebody, or the database is busy: the same is asked again at `at`.
    pub fn ask_again(&mut self, key: Key, at: Instant) {
        self.entries[key].state = State::Waiting;
        self.later.push((at, key));
    }

    /// The database refused the reason's text: the outcome is written without it.
    pub fn without_reason(&mut self, key: Key) -> bool {
        self.entries[key].settlement.reason.take().is_some()
    }

    /// When the lease of a delivery ends by this host's clock.
    #[must_use]
    pub fn ends(&self, key: Key) -> Instant {
        self.entries[key].ends
    }

    /// Takes every lease that must be renewed: one statement. Deliveries that are being settled are
    /// not in it.
    pub fn next_renewal(&mut self, max: usize, due: impl Fn(Instant) -> bool) -> Batch<Id> {
        let held = |entry: &Entry<Id, Row>| {
            matches!(entry.state, State::Buffered | State::Running | State::Held)
                && !entry.renewing
                && !entry.lost
                && due(entry.ends)
        };
        let held = self.entries.iter().filter(|(_, entry)| held(entry)).map(|(key, _)| key);
        let mut keys: Vec<_> = held.take(max).collect();
        keys.sort_by(|a, b| self.entries[*a].id.cmp(&self.entries[*b].id));
        let mut rows = RowsOf::new(self.form);
        for &key in &keys {
            let entry = &mut self.entries[key];
            entry.renewing = true;
            rows.push(entry.id.clone(), entry.token, entry.attempt + 1);
        }
        Batch { event: None, keys, rows }
    }

    /// The renewal moved the lease.
    pub fn renewed(&mut self, key: Key, token: i64, ends: Instant) {
        let entry = &mut self.entries[key];
        entry.token = token;
        entry.ends = ends;
        self.answered(key);
    }

    /// The renewal did not happen, and the row is still owned by its old token.
    pub fn not_renewed(&mut self, key: Key) {
        self.answered(key);
    }

    fn answered(&mut self, key: Key) {
        let entry = &mut self.entries[key];
        entry.renewing = false;
        match entry.state {
            State::Buffered if entry.row.is_none() => drop(self.entries.remove(key)),
            State::Waiting => {
                let event = entry.settlement.event;
                self.waiting[event as usize].push_back(key);
            }
            _ => {}
        }
    }

    /// Somebody else has the row, or it is gone: the handler is told, and nothing is written.
    pub fn lose(&mut self, key: Key) {
        let entry = &mut self.entries[key];
        entry.lost = true;
        entry.renewing = false;
        if let Some(cancellation) = &entry.cancellation {
            cancellation.cancel();
        }
        match entry.state {
            // The buffer or the worker still names the key, and removes it when it gets there.
            State::Running => {}
            State::Buffered if entry.row.is_some() => {}
            State::Held => {
                self.later.retain(|(_, held)| *held != key);
                self.entries.remove(key);
            }
            State::Buffered | State::Waiting | State::Settling => drop(self.entries.remove(key)),
        }
    }

    /// The id of a delivery.
    #[must_use]
    pub fn id(&self, key: Key) -> &Id {
        &self.entries[key].id
    }

    /// The number of a delivery.
    #[must_use]
    pub fn attempt(&self, key: Key) -> i64 {
        self.entries[key].attempt
    }
}
