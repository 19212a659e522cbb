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
