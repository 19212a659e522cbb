//! The state machine of lease deliveries: which rows this process holds, and what may happen to
//! each of them next.
//!
//! ARCHITECTURE.md draws it. It knows no database and waits for nothing; the claimer, the keeper,
//! the settler and the workers move it, and the model test moves it against real statements.

mod batch;
mod renewing;
mod settling;
mod start;
mod verdict;
mod waiting;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use slab::Slab;
use tokio_util::sync::CancellationToken;

use crate::descriptor::TimeForm;
use crate::dialect::Event;
use crate::settle::{Settlement, Unwritten, Waiter};
pub use batch::Batch;
pub(crate) use start::startable;
pub use verdict::{Renewal, Verdict};

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
    /// That statement gave no answer: it is looked up what became of it.
    Unknown,
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
    /// A statement with its outcome gave no answer: it may have run, or run while others are sent.
    perhaps_settled: bool,
    /// How many statements, one after another, left the row out although the delivery owns it.
    left_out: u8,
    /// When the lease ends, by this host's monotonic clock, from before the statement was sent.
    ends: Instant,
    settlement: Settlement,
    cancellation: Option<CancellationToken>,
    /// Whoever waits for the end of the delivery.
    waiter: Option<Waiter>,
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
    busy: usize,
    held: usize,
    /// The table counts deliveries, so that a row which nobody started must be given back.
    counts: bool,
    /// Rows were given back because their leases ended in the buffer.
    late: bool,
    /// Nothing is written any more, and why.
    closed: Option<Unwritten>,
    /// Handler time of one row, averaged; zero until one has finished.
    handler_time: Duration,
}

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
    /// An empty ledger of a table whose leases are written as `form`, and that counts deliveries or
    /// does not.
    #[must_use]
    pub fn new(form: TimeForm, counts: bool) -> Self {
        Self {
            form,
            entries: Slab::new(),
            buffer: VecDeque::new(),
            waiting: Default::default(),
            later: Vec::new(),
            turn: 0,
            running: 0,
            busy: 0,
            held: 0,
            counts,
            late: false,
            closed: None,
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

    /// The workers that have rows.
    #[must_use]
    pub const fn busy(&self) -> usize {
        self.busy
    }

    /// All rows that are not settled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The rows that nobody can work on now, and that are kept for a while.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
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
            perhaps_settled: false,
            left_out: 0,
            ends,
            settlement: Settlement::new(Event::GiveBack),
            cancellation: None,
            waiter: None,
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

    /// A token that fires when one of the deliveries has lost its row.
    pub fn cancellation(&mut self, keys: &[Key]) -> CancellationToken {
        let shared = keys.first().map(|key| self.entries[*key].cancellation.clone());
        let token = shared.flatten().unwrap_or_default();
        for &key in keys {
            let entry = &mut self.entries[key];
            entry.cancellation = Some(token.clone());
            if entry.lost {
                token.cancel();
            }
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
            self.handler_time = match self.handler_time {
                Duration::ZERO => took,
                before => (before * 7 + took) / 8,
            };
        }
        self.wait(key, settlement)
    }

    /// Nobody can work on the row now: keeps it leased until `until`, and then settles it.
    pub fn hold(&mut self, key: Key, until: Instant, settlement: Settlement) {
        self.running -= 1;
        self.held += 1;
        let entry = &mut self.entries[key];
        entry.state = State::Held;
        entry.settlement = settlement;
        self.later.push((until, key));
    }

    fn wait(&mut self, key: Key, settlement: Settlement) -> bool {
        let entry = &mut self.entries[key];
        if entry.lost && !entry.renewing {
            self.end(key, Err(Unwritten::Lost));
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

    /// Somebody else has the row, or it is gone: the handler is told, and nothing is written.
    fn lose(&mut self, key: Key) {
        let entry = &mut self.entries[key];
        entry.lost = true;
        entry.renewing = false;
        if let Some(cancellation) = &entry.cancellation {
            cancellation.cancel();
        }
        match entry.state {
            // The buffer or the worker still names the key, and removes it when it gets there.
            State::Running | State::Buffered => {}
            State::Held => {
                self.held -= 1;
                self.later.retain(|(_, held)| *held != key);
                self.entries.remove(key);
            }
            State::Waiting | State::Settling | State::Unknown => {
                self.end(key, Err(Unwritten::Lost));
            }
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
