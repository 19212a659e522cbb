//! How long to wait: polls, known due times, and pauses after errors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// The most due times that are remembered; the poll finds the others.
const MAX_DUE: usize = 1024;

/// A little less than `interval`, so that many processes do not poll in step.
pub(crate) fn jittered(interval: Duration) -> Duration {
    interval.mul_f64(0.75 + 0.25 * fastrand::f64())
}

/// Times at which rows that this process put off are due.
#[derive(Debug, Default)]
pub(crate) struct DueTimes(BinaryHeap<Reverse<Instant>>);

impl DueTimes {
    /// Remembers a time. `true`: it is the next one.
    pub(crate) fn remember(&mut self, at: Instant) -> bool {
        if self.0.len() == MAX_DUE {
            return false;
        }
        self.0.push(Reverse(at));
        self.0.peek() == Some(&Reverse(at))
    }

    /// Forgets the times that have passed. `true`: there were some.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        let before = self.0.len();
        while self.0.peek().is_some_and(|Reverse(at)| *at <= now) {
            self.0.pop();
        }
        self.0.len() < before
    }

    /// The next time.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse(at)| *at)
    }
}

/// Pauses that grow while a database does not answer.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(5);

    /// The next pause: twice the last, at most five seconds, jittered.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = Self::FIRST.saturating_mul(1 << self.failures.min(10)).min(Self::LONGEST);
        self.failures += 1;
        jittered(pause)
    }

    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Backoff, DueTimes, MAX_DUE, jittered};

    #[test]
    fn a_jittered_interval_is_at_most_a_quarter_shorter() {
        let interval = Duration::from_secs(4);
        let waits: Vec<_> = (0..100).map(|_| jittered(interval)).collect();
        assert!(waits.iter().all(|wait| (Duration::from_secs(3)..=interval).contains(wait)));
        assert!(waits.iter().any(|wait| *wait != waits[0]), "they are not in step");
    }

    #[test]
    fn pauses_double_up_to_five_seconds_and_start_anew() {
        let mut backoff = Backoff::default();
        for longest in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let longest = Duration::from_millis(longest);
            let pause = backoff.pause();
            assert!((longest * 3 / 4..=longest).contains(&pause), "{pause:?} of {longest:?}");
        }
        // However long a database is away.
        (0..100).for_each(|_| assert!(backoff.pause() <= Backoff::LONGEST));
        backoff.reset();
        assert!(backoff.pause() <= Backoff::FIRST);
    }

    #[test]
    fn due_times_are_told_in_their_order_and_forgotten_when_they_passed() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut due = DueTimes::default();
        assert_eq!(due.next(), None);
        assert!(due.remember(after(20)), "the first is the next");
        assert!(!due.remember(after(30)));
        assert!(due.remember(after(10)), "sooner than the others");
        assert_eq!(due.next(), Some(after(10)));
        assert!(!due.take_due(after(9)));
        assert!(due.take_due(after(20)), "both that have passed");
        assert_eq!(due.next(), Some(after(30)));
        assert!(!due.take_due(after(20)), "they are told once");
    }

    #[test]
    fn no_more_due_times_are_remembered_than_the_poll_may_find() {
        let now = Instant::now();
        let mut due = DueTimes::default();
        for _ in 0..MAX_DUE {
            due.remember(now + Duration::from_secs(9));
        }
        assert!(!due.remember(now), "even a sooner one");
        assert_eq!(due.next(), Some(now + Duration::from_secs(9)));
    }
}
