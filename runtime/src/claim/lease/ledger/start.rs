//! Rows for workers.

use std::time::Instant;

use super::{Key, Ledger, State, Work};
use crate::dialect::Event;
use crate::handler::Taken;
use crate::settle::Settlement;

/// Whether a row is delivered alone: it was delivered before, so it may have killed its process, and
/// would take an attempt of all that are with it.
const fn goes_alone(attempt: i64) -> bool {
    attempt > 1
}

/// How many of the next rows so many workers take at once, with at most `max` rows a call.
pub(crate) fn startable(attempts: impl Iterator<Item = i64>, workers: usize, max: usize) -> usize {
    let (mut calls, mut rows, mut in_call) = (0, 0, max);
    for attempt in attempts {
        if in_call == max || goes_alone(attempt) {
            if calls == workers {
                break;
            }
            calls += 1;
            in_call = 0;
        }
        rows += 1;
        in_call = if goes_alone(attempt) { max } else { in_call + 1 };
    }
    rows
}

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
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
                // Nobody worked on it and its lease has ended: there is nothing to restore.
                _ if !self.counts && !entry.renewing => drop(self.entries.remove(key)),
                // Nobody worked on it: the count is restored, if the row is still ours.
                _ => self.late |= self.wait(key, Settlement::new(Event::GiveBack)),
            }
        }
        None
    }

    /// Hands at most `max` rows to a worker.
    ///
    /// A row that is delivered again goes alone.
    pub fn start_batch(
        &mut self,
        now: Instant,
        max: usize,
        keys: &mut Vec<Key>,
        rows: &mut Vec<Taken<Row>>,
    ) {
        while keys.len() < max {
            let next = self.buffer.front().map(|key| self.entries[*key].attempt);
            if !keys.is_empty() && next.is_some_and(goes_alone) {
                break;
            }
            let Some(Work { key, attempt, row }) = self.start(now) else { break };
            keys.push(key);
            rows.push(Taken { attempt, row });
            if goes_alone(attempt) {
                break;
            }
        }
        self.busy += usize::from(!keys.is_empty());
    }

    /// A worker is done with all of its rows.
    pub fn worker_is_free(&mut self) {
        self.busy -= 1;
    }

    /// Whether rows were given back since the last time that somebody asked, because their leases
    /// had ended when a worker was free.
    pub fn take_late(&mut self) -> bool {
        std::mem::take(&mut self.late)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Ledger, startable};
    use crate::claim::Claimed;
    use crate::descriptor::TimeForm;

    /// The attempts of each call, of rows that were claimed with these.
    fn calls(attempts: &[i64], max: usize) -> Vec<Vec<i64>> {
        let mut ledger = Ledger::new(TimeForm::Micros, true);
        let now = Instant::now();
        for (id, &attempt) in attempts.iter().enumerate() {
            let row = Claimed { id, token: 0, attempt, row: id };
            ledger.claimed(row, now + Duration::from_secs(30));
        }
        let mut calls = Vec::new();
        let mut order = Vec::new();
        loop {
            let (mut keys, mut rows) = (Vec::new(), Vec::new());
            ledger.start_batch(now, max, &mut keys, &mut rows);
            if rows.is_empty() {
                break;
            }
            order.extend(rows.iter().map(|taken| taken.row));
            calls.push(rows.iter().map(|taken| taken.attempt).collect());
        }
        assert_eq!(ledger.busy(), calls.len());
        assert!(order.is_sorted(), "{order:?}");
        calls
    }

    #[test]
    fn a_call_has_as_many_rows_as_there_are_and_at_most_max() {
        assert_eq!(calls(&[1; 7], 3), [vec![1; 3], vec![1; 3], vec![1]]);
        assert_eq!(calls(&[1; 2], 100), [[1; 2]]);
    }

    #[test]
    fn a_row_that_is_delivered_again_goes_alone() {
        let alone = [vec![1, 1], vec![2], vec![3], vec![1, 1, 1], vec![1]];
        assert_eq!(calls(&[1, 1, 2, 3, 1, 1, 1, 1], 3), alone);
    }

    #[test]
    fn workers_start_what_they_are_said_to() {
        for attempts in [&[1, 1, 2, 3, 1, 1, 1, 1][..], &[1; 9], &[2; 4], &[2, 1, 1, 1, 1], &[]] {
            for (workers, max) in [(1, 1), (1, 3), (2, 3), (3, 2), (9, 100)] {
                let said = startable(attempts.iter().copied(), workers, max);
                let started: usize = calls(attempts, max).iter().take(workers).map(Vec::len).sum();
                assert_eq!(said, started, "{attempts:?} {workers} workers of {max}");
            }
        }
    }
}
