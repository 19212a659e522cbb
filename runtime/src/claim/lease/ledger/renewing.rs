//! Which leases are renewed, and what the answers change.

use std::time::Instant;

use super::verdict::STUCK;
use super::{Batch, Entry, Key, Ledger, State};
use crate::backend::RowsOf;

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
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
        // As in a settlement: the other delivery of the same row is in the next statement.
        keys.dedup_by(|b, a| self.entries[*b].id == self.entries[*a].id);
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
        // What was told once is not told again.
        if entry.left_out < STUCK {
            entry.left_out = 0;
        }
        self.answered(key);
    }

    /// The renewal did not happen, and the row is still owned by its old token.
    pub fn not_renewed(&mut self, key: Key) {
        self.answered(key);
    }

    fn answered(&mut self, key: Key) {
        let entry = &mut self.entries[key];
        entry.renewing = false;
        if entry.state == State::Waiting {
            let event = entry.settlement.event;
            self.waiting[event as usize].push_back(key);
        }
    }
}
