//! What the table must hold: the contract in a few lines of Rust, without SQL and without tokens.
//!
//! The model knows which delivery owns a row, because it saw the claim. Statements know only the
//! token and the count; wherever these say something else, a statement answers what the model does
//! not expect, or the table differs.

use std::collections::{BTreeMap, BTreeSet};

use queue_table::__private::lease::{ClaimFrom, Event, Found};

use super::row::{Asked, Claim, Delivery, End, Stored, Taken, Times};
use super::shape::{Columns, DEAD, WORK};

/// A row, and what nobody can read in the table.
#[derive(Debug, Clone)]
struct Row {
    stored: Stored,
    /// Whose the row is, from the claim to a release, an end, or the next claim.
    owner: Option<Delivery>,
    /// Deliveries that count: a crash does, what was given back does not.
    deliveries: i64,
    /// Another session of the user has it locked.
    locked: bool,
}

/// All rows that were ever inserted.
#[derive(Debug)]
pub(crate) struct Model {
    columns: Columns,
    rows: BTreeMap<i64, Row>,
    ends: BTreeMap<i64, End>,
    /// Deliveries whose outcomes are in the table.
    written: BTreeSet<Delivery>,
    inserted: i64,
}

impl Model {
    pub(crate) fn new(columns: Columns) -> Self {
        let (rows, ends, written) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { columns, rows, ends, written, inserted: 0 }
    }

    /// A fresh row; its number is returned.
    pub(crate) fn insert(&mut self, retry_after: Option<i64>) -> i64 {
        self.inserted += 1;
        let never_null = self.columns.delay.is_some_and(|delay| !delay.nullable);
        let stored = Stored {
            group: self.columns.group.map_or("", |_| WORK).to_owned(),
            attempt: 1,
            retry_after: retry_after.or(never_null.then_some(0)),
            locked_until: None,
            processed_at: None,
            last_error: String::new(),
        };
        let row = Row { stored, owner: None, deliveries: 0, locked: false };
        self.rows.insert(self.inserted, row);
        self.inserted
    }

    /// What must be in the table.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (i64, &Stored)> {
        self.rows.iter().map(|(n, row)| (*n, &row.stored))
    }

    /// How a row left the queue, if it did.
    pub(crate) fn end(&self, n: i64) -> Option<End> {
        self.ends.get(&n).copied()
    }

    /// Whether the outcome of a delivery is in the table.
    pub(crate) fn is_written(&self, delivery: Delivery) -> bool {
        self.written.contains(&delivery)
    }

    pub(crate) fn owner(&self, n: i64) -> Option<Delivery> {
        self.rows.get(&n).and_then(|row| row.owner)
    }

    /// Whether a token and a count are those of a row.
    pub(crate) fn is_current(&self, n: i64, token: i64, attempt: i64) -> bool {
        self.rows.get(&n).is_some_and(|row| {
            row.stored.locked_until == Some(token)
                && (self.columns.attempt.is_none() || row.stored.attempt == attempt)
        })
    }

    /// Rows that the user may delete or lock.
    pub(crate) fn unlocked(&self) -> Vec<i64> {
        self.rows.iter().filter(|(_, row)| !row.locked).map(|(n, _)| *n).collect()
    }

    pub(crate) fn lock(&mut self, n: i64) {
        if let Some(row) = self.rows.get_mut(&n) {
            row.locked = true;
        }
    }

    pub(crate) fn unlock(&mut self) {
        self.rows.values_mut().for_each(|row| row.locked = false);
    }

    /// The user deletes a row.
    pub(crate) fn delete(&mut self, n: i64) {
        self.rows.remove(&n);
        self.ends.entry(n).or_insert(End::Deleted);
    }

    /// The rows that have not left the queue.
    pub(crate) fn open(&self) -> Vec<i64> {
        (1..=self.inserted).filter(|n| !self.ends.contains_key(n)).collect()
    }

    fn key(row: &Row, n: i64) -> (i64, i64) {
        (row.stored.retry_after.unwrap_or(i64::MIN), n)
    }

    fn is_free(&self, row: &Row, at: i64) -> bool {
        let Stored { group, retry_after, locked_until, processed_at, .. } = &row.stored;
        (self.columns.group.is_none() || group == WORK)
            && processed_at.is_none()
            && retry_after.is_none_or(|due| due <= at)
            && locked_until.is_none_or(|until| until <= at)
    }

    /// What a claim takes, in its order.
    pub(crate) fn claimable(&self, claim: &Claim, times: Times) -> Vec<Taken> {
        let after = claim.after.map(|(due, n)| (due.unwrap_or(i64::MIN), n));
        let from = |n: i64, row: &Row| match claim.from {
            ClaimFrom::Start => true,
            ClaimFrom::Watermark => after.is_none_or(|after| Self::key(row, n) > after),
            ClaimFrom::Retries => row.stored.retry_after.is_some(),
        };
        let asked = |n: &i64| !claim.except.contains(n) && claim.one.is_none_or(|one| one == *n);
        let free = |n: &i64, row: &Row| !row.locked && self.is_free(row, times.start) && asked(n);
        let mut rows: Vec<_> =
            self.rows.iter().filter(|(n, row)| free(n, row) && from(**n, row)).collect();
        rows.sort_by_key(|(n, row)| Self::key(row, **n));
        let taken = rows.into_iter().take(claim.limit).map(|(n, row)| Taken {
            n: *n,
            token: later(times.write + claim.lease, row.stored.locked_until),
            attempt: if self.columns.attempt.is_some() { row.stored.attempt } else { 1 },
            due: row.stored.retry_after,
        });
        taken.collect()
    }

    /// What a claim would take was read before it, and was `got`, whichever rows it leaves out.
    pub(crate) fn first(&self, claim: &Claim, times: Times, got: &[i64]) -> Result<(), String> {
        let all = Claim { except: Vec::new(), one: None, ..claim.clone() };
        let expected: Vec<_> = self.claimable(&all, times).iter().map(|taken| taken.n).collect();
        match got == expected {
            true => Ok(()),
            false => Err(format!("a claim would take {expected:?}, and {got:?} was read")),
        }
    }

    /// A claim returned `got`; its rows belong to deliveries from `first` on.
    pub(crate) fn claim(
        &mut self,
        claim: &Claim,
        times: Times,
        first: Delivery,
        got: &[Taken],
    ) -> Result<Vec<Delivery>, String> {
        if got.len() > claim.limit {
            return Err(format!("a claim of {} rows took {}", claim.limit, got.len()));
        }
        for taken in got {
            match self.rows.get(&taken.n) {
                Some(row) if row.locked => return Err(format!("row {} is locked", taken.n)),
                Some(row) if !self.is_free(row, times.start) => {
                    return Err(format!("row {} was claimed and is not free", taken.n));
                }
                Some(row) => grew(taken.n, row.stored.locked_until, taken.token)?,
                None => return Err(format!("row {} was claimed and is gone", taken.n)),
            }
        }
        let expected = self.claimable(claim, times);
        if got != expected {
            return Err(format!("a claim returned {got:?}, not {expected:?}"));
        }
        let counts = self.columns.attempt.is_some();
        let deliveries = (first..).take(got.len()).collect();
        for (delivery, taken) in (first..).zip(got) {
            if let Some(row) = self.rows.get_mut(&taken.n) {
                row.owner = Some(delivery);
                row.deliveries += 1;
                row.stored.locked_until = Some(taken.token);
                row.stored.attempt += i64::from(counts);
                if counts && taken.attempt != row.deliveries {
                    let Taken { n, attempt, .. } = taken;
                    let text = format!("row {n} says delivery {attempt}, it is {}", row.deliveries);
                    return Err(text);
                }
            }
        }
        Ok(deliveries)
    }

    /// Whether a delivery still owns its row and knows the row's token.
    fn owns(&self, asked: &Asked) -> bool {
        self.rows.get(&asked.n).is_some_and(|row| {
            row.owner == Some(asked.delivery)
                && row.stored.locked_until == Some(asked.token)
                && row.stored.processed_at.is_none()
        })
    }

    fn is_locked(&self, n: i64) -> bool {
        self.rows.get(&n).is_some_and(|row| row.locked)
    }

    fn verdicts(&self, what: &str, batch: &[Asked], got: &[i64]) -> Result<(), String> {
        for asked in batch {
            let changed = got.contains(&asked.n);
            let owner = self.owner(asked.n);
            if changed && owner != Some(asked.delivery) {
                let Asked { n, delivery, .. } = asked;
                return Err(format!("{what} of delivery {delivery} changed row {n}, of {owner:?}"));
            }
            let expected = self.owns(asked) && !self.is_locked(asked.n);
            if changed != expected {
                return Err(format!("{what} changed row {}: {changed}, not {expected}", asked.n));
            }
        }
        Ok(())
    }

    /// A settlement returned the rows `got`.
    pub(crate) fn settle(
        &mut self,
        event: Event,
        batch: &[Asked],
        times: Times,
        got: &[i64],
    ) -> Result<(), String> {
        self.verdicts(event.name(), batch, got)?;
        let columns = self.columns;
        for asked in batch {
            if !got.contains(&asked.n) {
                continue;
            }
            let Some(row) = self.rows.get_mut(&asked.n) else { continue };
            self.written.insert(asked.delivery);
            row.owner = None;
            let stored = &mut row.stored;
            stored.locked_until = None;
            let says_why = !matches!(event, Event::Ack | Event::GiveBack | Event::Release);
            if let (true, Some(_), Some(reason)) = (says_why, columns.last_error, &asked.reason) {
                stored.last_error.clone_from(reason);
            }
            let end = match event {
                Event::Ack => {
                    stored.processed_at = Some(times.write);
                    Some(End::Acked(asked.delivery))
                }
                Event::Retry => None,
                Event::RetryAfter => {
                    stored.retry_after = Some(times.write + asked.delay);
                    None
                }
                Event::DeadLetter => {
                    DEAD.clone_into(&mut stored.group);
                    stored.attempt = 1;
                    let never_null = columns.delay.is_some_and(|delay| !delay.nullable);
                    stored.retry_after = never_null.then_some(times.write);
                    Some(End::DeadLetter(asked.delivery))
                }
                Event::GiveBack => {
                    stored.locked_until = Some(times.write);
                    stored.attempt -= i64::from(columns.attempt.is_some());
                    row.deliveries -= 1;
                    None
                }
                Event::Release => {
                    stored.locked_until = Some(times.write);
                    None
                }
            };
            if let Some(end) = end
                && let Some(before) = self.ends.insert(asked.n, end)
            {
                return Err(format!("row {} ended twice: {before:?}, {end:?}", asked.n));
            }
            if event == Event::Ack && columns.processed_at.is_none() {
                self.rows.remove(&asked.n);
            }
        }
        Ok(())
    }

    /// A renewal returned these rows with these tokens.
    pub(crate) fn renew(
        &mut self,
        batch: &[Asked],
        times: Times,
        lease: i64,
        got: &[(i64, i64)],
    ) -> Result<(), String> {
        let changed: Vec<_> = got.iter().map(|(n, _)| *n).collect();
        self.verdicts("a renewal", batch, &changed)?;
        for (n, token) in got {
            if let Some(row) = self.rows.get_mut(n) {
                grew(*n, row.stored.locked_until, *token)?;
                let expected = later(times.write + lease, row.stored.locked_until);
                if *token != expected {
                    return Err(format!("row {n} was renewed to {token}, not {expected}"));
                }
                row.stored.locked_until = Some(*token);
            }
        }
        Ok(())
    }

    /// A look-up answered `got`, in the order of `batch`.
    pub(crate) fn look(&self, batch: &[Asked], times: Times, got: &[Found]) -> Result<(), String> {
        let mut expected = Vec::new();
        for asked in batch {
            let in_force = times.start < asked.token;
            expected.push(match self.rows.get(&asked.n).map(|row| &row.stored) {
                None | Some(Stored { processed_at: Some(_), .. }) => Found::Gone { in_force },
                Some(_) if self.owns(asked) => Found::Owned,
                Some(stored) => Found::Other { current: stored.locked_until, in_force },
            });
        }
        if got == expected {
            Ok(())
        } else {
            Err(format!("a look-up of {batch:?} found {got:?}, not {expected:?}"))
        }
    }
}

/// A lease from now on is later than the one before it, even if the clock went back.
fn later(until: i64, before: Option<i64>) -> i64 {
    before.map_or(until, |before| until.max(before + 1))
}

fn grew(n: i64, before: Option<i64>, token: i64) -> Result<(), String> {
    match before {
        Some(before) if token <= before => {
            Err(format!("row {n} had the token {before} and was given {token}"))
        }
        _ => Ok(()),
    }
}
