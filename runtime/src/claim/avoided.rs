//! Rows that this process leaves out of its claims for a while.

use std::time::Instant;

use crate::dialect::MAX_LEFT_OUT;

/// The ids of rows that this process leaves out of its claims, each with the time until which.
///
/// There are few: nobody may look long for what is not to be claimed.
#[derive(Debug)]
pub(crate) struct Avoided<Id>(Vec<(Instant, Id)>);

impl<Id> Default for Avoided<Id> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Id: Clone + PartialEq> Avoided<Id> {
    /// Leaves a row out until a time. `true`: there were too many, and the one whose time would
    /// have come next had to make room.
    pub(crate) fn leave_out(&mut self, id: Id, until: Instant) -> bool {
        self.forget(&id);
        let full = self.0.len() == MAX_LEFT_OUT;
        if full && let Some(next) = self.next() {
            self.0.swap_remove(next);
        }
        self.0.push((until, id));
        full
    }

    /// Leaves a row out no longer.
    pub(crate) fn forget(&mut self, id: &Id) {
        self.0.retain(|(_, left_out)| left_out != id);
    }

    /// A row whose time is over, if there is one. It is left out until somebody says otherwise.
    pub(crate) fn over(&self, now: Instant) -> Option<Id> {
        let (until, id) = &self.0[self.next()?];
        (*until <= now).then(|| id.clone())
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.0.iter().any(|(_, left_out)| left_out == id)
    }

    /// All that are left out now.
    pub(crate) fn ids(&self) -> Vec<Id> {
        self.0.iter().map(|(_, id)| id.clone()).collect()
    }

    /// Where the row stands whose time comes next.
    fn next(&self) -> Option<usize> {
        let until = |at: &usize| self.0[*at].0;
        (0..self.0.len()).min_by_key(until)
    }
}

#[cfg(test)]
mod tests {
    use super::{Avoided, MAX_LEFT_OUT};
    use std::time::{Duration, Instant};

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_row_is_left_out_until_its_time_is_over_and_somebody_says_so() {
        let now = Instant::now();
        let mut avoided = Avoided::default();
        assert!(!avoided.leave_out(7, now + MINUTE));
        assert_eq!(avoided.over(now), None);
        assert_eq!(avoided.over(now + MINUTE), Some(7));
        assert_eq!(avoided.ids(), [7], "its time is over, and it is tried alone first");
        avoided.forget(&7);
        assert!(avoided.is_empty());
    }

    #[test]
    fn a_row_that_is_left_out_again_stands_there_once() {
        let now = Instant::now();
        let mut avoided = Avoided::default();
        avoided.leave_out(7, now);
        avoided.leave_out(7, now + MINUTE);
        assert_eq!(avoided.ids(), [7]);
        assert_eq!(avoided.over(now), None);
    }

    #[test]
    fn the_row_whose_time_comes_next_makes_room() {
        let now = Instant::now();
        let mut avoided = Avoided::default();
        let most = u32::try_from(MAX_LEFT_OUT).unwrap_or(u32::MAX);
        for id in 0..most {
            assert!(!avoided.leave_out(id, now + (1 + (id + most - 3) % most) * MINUTE));
        }
        assert!(!avoided.leave_out(5, now + 1000 * MINUTE), "it is there already");
        assert!(avoided.leave_out(most, now + MINUTE));
        assert_eq!(avoided.len(), MAX_LEFT_OUT);
        assert!(!avoided.contains(&3), "the one that was next");
        assert!(avoided.contains(&most));
    }
}
