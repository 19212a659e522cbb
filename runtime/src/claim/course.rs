//! Where in the table's order the next claim starts.

use std::time::{Duration, Instant};

use crate::dialect::{ClaimFrom, Starts, Statement};

/// How long claims may start past a watermark, and how long due retries may wait behind a backlog.
const LOOK_BACK: Duration = Duration::from_secs(1);

/// The last row of a full claim: its `retry_after` and its id.
#[derive(Debug, Clone)]
pub(crate) struct Place<Id> {
    pub(crate) retry_after: Option<i64>,
    pub(crate) id: Id,
}

/// Where the next claim starts: past what the last one took while claims come back full, at the
/// beginning after that, and at least once a second.
#[derive(Debug)]
pub(crate) struct Course<Id> {
    watermarks: bool,
    retries: bool,
    /// The last claim was full, and its last row stood here.
    watermark: Option<Place<Id>>,
    /// When a claim last started at the beginning.
    started: Instant,
    /// That claim came back full: fresh rows may hide due retries.
    backlog: bool,
    /// When due retries were last asked for.
    retried: Instant,
}

impl<Id> Course<Id> {
    pub(crate) fn new(claims: &Starts<Statement>, now: Instant) -> Self {
        Self {
            watermarks: claims.get(ClaimFrom::Watermark).is_some(),
            retries: claims.get(ClaimFrom::Retries).is_some(),
            watermark: None,
            started: now,
            backlog: false,
            retried: now,
        }
    }

    /// Decides where the next claim starts. `woken`: rows may have come before the watermark.
    pub(crate) fn next(&mut self, now: Instant, woken: bool) -> ClaimFrom {
        if woken || now - self.started > LOOK_BACK {
            self.watermark = None;
        }
        if self.watermark.is_some() {
            ClaimFrom::Watermark
        } else if self.retries
            && self.backlog
            && self.started > self.retried
            && now - self.retried > LOOK_BACK
        {
            self.retried = now;
            ClaimFrom::Retries
        } else {
            self.started = now;
            ClaimFrom::Start
        }
    }

    /// Where the watermark stands.
    pub(crate) const fn watermark(&self) -> Option<&Place<Id>> {
        self.watermark.as_ref()
    }

    /// Learns from a claim. `true`: there is nothing more to claim now.
    pub(crate) fn learn(&mut self, from: ClaimFrom, full: bool, last: Option<Place<Id>>) -> bool {
        match from {
            // What was asked for was a part; the rest comes from the beginning.
            ClaimFrom::Retries => false,
            ClaimFrom::Watermark | ClaimFrom::Start => {
                self.watermark = last.filter(|_| full && self.watermarks);
                let from_start = from == ClaimFrom::Start;
                self.backlog = if from_start { full } else { self.backlog };
                from_start && !full
            }
        }
    }

    /// A claim failed: the next one starts at the beginning.
    pub(crate) fn forget(&mut self) {
        self.watermark = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Course, LOOK_BACK, Place};
    use crate::dialect::ClaimFrom;
    use std::time::{Duration, Instant};

    fn course(now: Instant) -> Course<i64> {
        Course {
            watermarks: true,
            retries: true,
            watermark: None,
            started: now,
            backlog: false,
            retried: now,
        }
    }

    fn place(id: i64) -> Option<Place<i64>> {
        Some(Place { retry_after: None, id })
    }

    #[test]
    fn a_full_claim_is_followed_by_one_past_its_last_row() {
        let now = Instant::now();
        let mut course = course(now);
        assert_eq!(course.next(now, false), ClaimFrom::Start);
        assert!(!course.learn(ClaimFrom::Start, true, place(7)));
        assert_eq!(course.next(now, false), ClaimFrom::Watermark);
        assert_eq!(course.watermark().map(|place| place.id), Some(7));
    }

    #[test]
    fn a_short_claim_past_the_watermark_is_followed_by_one_from_the_start() {
        let now = Instant::now();
        let mut course = course(now);
        course.learn(ClaimFrom::Start, true, place(7));
        assert!(!course.learn(ClaimFrom::Watermark, false, place(9)));
        assert_eq!(course.next(now, false), ClaimFrom::Start);
        assert!(course.learn(ClaimFrom::Start, false, None), "nothing more to claim now");
    }

    #[test]
    fn a_wake_and_a_second_end_the_watermark() {
        let now = Instant::now();
        let mut course = course(now);
        course.learn(ClaimFrom::Start, true, place(7));
        assert_eq!(course.next(now, true), ClaimFrom::Start);
        course.learn(ClaimFrom::Start, true, place(7));
        let later = now + LOOK_BACK + Duration::from_millis(1);
        assert_ne!(course.next(later, false), ClaimFrom::Watermark);
    }

    #[test]
    fn due_retries_are_asked_for_once_a_second_behind_a_backlog_and_never_without() {
        let now = Instant::now();
        let later = now + 2 * LOOK_BACK;
        let mut busy = course(now);
        busy.next(now + Duration::from_millis(1), false);
        busy.learn(ClaimFrom::Start, true, place(7));
        assert_eq!(busy.next(later, false), ClaimFrom::Retries);
        assert!(!busy.learn(ClaimFrom::Retries, true, place(1)));
        // However rarely claims come, fresh rows have their turn too.
        assert_eq!(busy.next(later + 2 * LOOK_BACK, false), ClaimFrom::Start);
        let mut quiet = course(now);
        quiet.learn(ClaimFrom::Start, false, place(7));
        assert_eq!(quiet.next(later, false), ClaimFrom::Start);
    }

    #[test]
    fn a_database_without_watermarks_always_starts_at_the_beginning() {
        let now = Instant::now();
        let mut course = Course { watermarks: false, ..course(now) };
        course.learn(ClaimFrom::Start, true, place(7));
        assert_eq!(course.next(now, false), ClaimFrom::Start);
    }
}
