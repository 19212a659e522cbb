//! A process with its real state machine, and what it believes of its rows.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use queue_table::__private::lease::{
    Batch, Claimed, Event, Found, Key, Ledger, Renewal, RowsOf, Settlement, Verdict,
};
use queue_table::descriptor::RowId;

use super::row::{Asked, Claim, Delivery, Taken};
use super::shape::Shape;

/// The most deliveries of a row; what comes after is a dead letter.
const MAX_ATTEMPTS: i64 = 3;

/// What a process believes of one delivery.
#[derive(Debug)]
pub(crate) struct Belief {
    pub(crate) n: i64,
    pub(crate) delivery: Delivery,
    pub(crate) token: i64,
    /// The number of the delivery; the claim stored one more.
    pub(crate) attempt: i64,
    pub(crate) is_lost: bool,
    /// The row that the state machine holds: it is dropped with its entry.
    held: Weak<()>,
    /// The same, when a worker has it.
    worked: Option<Arc<()>>,
}

impl Belief {
    /// Whether the process still means to write something about the row.
    pub(crate) fn is_alive(&self) -> bool {
        !self.is_lost && self.held.strong_count() > 0
    }
}

/// One process.
#[derive(Debug)]
pub(crate) struct Process<S: Shape> {
    pub(crate) ledger: Ledger<S::Id, Arc<()>>,
    pub(crate) lease: i64,
    pub(crate) beliefs: BTreeMap<Key, Belief>,
    /// Deliveries that no handler gets; a settlement is the first to name their keys.
    pub(crate) spent: Vec<Belief>,
    pub(crate) running: Vec<Key>,
    /// The last row of a full claim.
    pub(crate) watermark: Option<(Option<i64>, i64)>,
}

impl<S: Shape> Process<S> {
    pub(crate) fn new(lease: i64) -> Self {
        Self {
            ledger: Ledger::new(S::COLUMNS.form, S::COLUMNS.attempt.is_some()),
            lease,
            beliefs: BTreeMap::new(),
            spent: Vec::new(),
            running: Vec::new(),
            watermark: None,
        }
    }

    /// Takes the rows of a claim, as the claimer does.
    pub(crate) fn claimed(&mut self, claim: &Claim, taken: Vec<(Taken, Delivery)>, ends: Instant) {
        let last = taken.last().map(|(last, _)| (last.due, last.n));
        self.watermark = last.filter(|_| taken.len() == claim.limit);
        for (Taken { n, token, attempt, .. }, delivery) in taken {
            let row = Arc::new(());
            let held = Arc::downgrade(&row);
            let claimed = Claimed { id: S::id(n), token, attempt, row };
            let belief = Belief { n, delivery, token, attempt, is_lost: false, held, worked: None };
            if attempt > MAX_ATTEMPTS && S::COLUMNS.group.is_some() {
                let settlement = Settlement {
                    reason: Some("delivered too often".to_owned()),
                    ..Settlement::new(Event::DeadLetter)
                };
                self.ledger.claimed_for(claimed, ends, settlement);
                self.spent.push(belief);
            } else {
                let key = self.ledger.claimed(claimed, ends);
                self.beliefs.insert(key, belief);
            }
        }
    }

    /// A worker takes a row.
    pub(crate) fn start(&mut self, now: Instant) -> Option<i64> {
        let work = self.ledger.start(now)?;
        let belief = self.beliefs.get_mut(&work.key)?;
        belief.worked = Some(work.row);
        self.running.push(work.key);
        Some(belief.n)
    }

    /// What is written for an outcome, with the cap of the subscription.
    pub(crate) fn settlement(&self, key: Key, event: Event, delay: i64) -> Settlement {
        let columns = S::COLUMNS;
        let attempt = self.ledger.attempt(key);
        let spent = attempt >= MAX_ATTEMPTS && columns.group.is_some();
        let event = match event {
            Event::Retry | Event::RetryAfter if spent => Event::DeadLetter,
            Event::RetryAfter if columns.delay.is_none() => Event::Retry,
            Event::DeadLetter if columns.group.is_none() => Event::Retry,
            event => event,
        };
        let reason = matches!(event, Event::Retry | Event::DeadLetter)
            .then(|| format!("delivery {attempt} failed"));
        Settlement { event, delay, reason }
    }

    /// The rows of a batch with the deliveries that they are of.
    pub(crate) fn asked(&mut self, batch: &Batch<S::Id>) -> Result<Vec<Asked>, String> {
        let rows = &batch.rows;
        for (at, key) in batch.keys.iter().enumerate() {
            let (n, token) = (S::n(&rows.ids[at]), rows.tokens[at]);
            let spent = self.spent.iter().position(|spent| spent.n == n && spent.token == token);
            if let Some(spent) = spent.filter(|_| batch.event == Some(Event::DeadLetter)) {
                self.beliefs.insert(*key, self.spent.swap_remove(spent));
            }
        }
        let asked = batch.keys.iter().enumerate().map(|(at, key)| {
            let belief = self.beliefs.get(key).filter(|belief| !belief.is_lost);
            let belief = belief.ok_or("a statement names a delivery that is over")?;
            Ok(Asked {
                n: S::n(&rows.ids[at]),
                delivery: belief.delivery,
                token: rows.tokens[at],
                attempt: rows.attempts[at],
                delay: rows.delays.get(at).copied().unwrap_or_default(),
                reason: rows.reasons.get(at).cloned().flatten(),
            })
        });
        asked.collect()
    }

    /// The lease of a delivery has moved.
    pub(crate) fn renewed(&mut self, key: Key, token: i64, ends: Instant) {
        self.ledger.renewed(key, token, ends);
        if let Some(belief) = self.beliefs.get_mut(&key) {
            belief.token = token;
        }
    }

    /// An outcome was looked up.
    pub(crate) fn outcome_found(&mut self, key: Key, found: Found, later: Instant) -> Verdict {
        let verdict = self.ledger.outcome_found(key, found, later);
        if let Verdict::Done | Verdict::Lost = verdict {
            self.beliefs.remove(&key);
        }
        verdict
    }

    /// A lease was looked up.
    pub(crate) fn lease_found(
        &mut self,
        key: Key,
        found: Found,
        now: Instant,
        perhaps: Option<Instant>,
    ) -> Renewal {
        let renewal = self.ledger.lease_found(key, found, now, perhaps);
        if let Some(belief) = self.beliefs.get_mut(&key) {
            match renewal {
                Renewal::Moved { token, .. } => belief.token = token,
                Renewal::Skipped => {}
                Renewal::Lost => belief.is_lost = true,
            }
        }
        renewal
    }

    /// A delivery is over.
    pub(crate) fn remove(&mut self, key: Key) {
        self.ledger.settled(key);
        self.beliefs.remove(&key);
    }
}

/// Microseconds.
pub(crate) fn micros(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// Some rows of a batch.
pub(crate) fn part<Id: RowId>(batch: &Batch<Id>, places: &[usize]) -> Batch<Id> {
    let rows = &batch.rows;
    let taken = RowsOf {
        form: rows.form,
        ids: places.iter().map(|at| rows.ids[*at].clone()).collect(),
        tokens: places.iter().map(|at| rows.tokens[*at]).collect(),
        attempts: places.iter().map(|at| rows.attempts[*at]).collect(),
        reasons: places.iter().filter_map(|at| rows.reasons.get(*at).cloned()).collect(),
        delays: places.iter().filter_map(|at| rows.delays.get(*at).copied()).collect(),
    };
    let keys = places.iter().map(|at| batch.keys[*at]).collect();
    Batch { event: batch.event, keys, rows: taken }
}
