//! What waits to be written, and in which groups.

use std::collections::VecDeque;
use std::time::Instant;

use super::{Batch, Key, Ledger, State};
use crate::backend::RowsOf;
use crate::dialect::Event;

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
    /// How many outcomes wait to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
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
                self.held -= 1;
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
        // A statement names a row once, because it answers with ids: of a row that was lost and
        // claimed again there are two deliveries, and the second is asked in the next statement.
        let Self { entries, waiting, .. } = self;
        keys.dedup_by(|b, a| {
            let again = entries[*b].id == entries[*a].id;
            if again {
                waiting[event as usize].push_front(*b);
            }
            again
        });
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

    /// The row is locked by somebody, or the database is busy: the same is asked again at `at`.
    pub fn ask_again(&mut self, key: Key, at: Instant) {
        self.entries[key].state = State::Waiting;
        self.later.push((at, key));
    }

    /// The database refused the reason's text: the outcome is written without it.
    pub fn without_reason(&mut self, key: Key) -> bool {
        self.entries[key].settlement.reason.take().is_some()
    }
}
