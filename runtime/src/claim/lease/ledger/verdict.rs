//! What a look-up says of deliveries whose last statement left them out, or gave no answer.
//!
//! The settler and the keeper ask here, and so does the model test: what is decided is done to the
//! delivery in the same place.

use std::time::Instant;

use super::{Key, Ledger, State};
use crate::settle::{Found, Unwritten};

/// How often in a row statements leave a delivery out before somebody is told. At most a tenth of
/// the lease lies between two of them, so it is told before the lease ends; a claim of another
/// process that looks at a row on its way to others holds it for a moment, and hardly ever four
/// times.
pub(super) const STUCK: u8 = 4;

/// What became of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is in the table, and the delivery is over.
    Done,
    /// Its statement gave no answer and did not run: the caller sends it again at once.
    Again,
    /// Its statement left the row out although the delivery owns it: it is asked again alone.
    Later,
    /// The row is somebody else's, or nobody's, and the delivery is over.
    Lost,
}

impl Verdict {
    /// `unknown`: the last statement gave no answer. `perhaps_settled`: some statement gave none,
    /// the last or one before it.
    const fn of(found: Found, unknown: bool, perhaps_settled: bool) -> Self {
        match found {
            Found::Owned if unknown => Self::Again,
            Found::Owned => Self::Later,
            // Nobody else can have ended it before our lease did.
            Found::Gone { in_force: true } if perhaps_settled => Self::Done,
            Found::Gone { .. } | Found::Other { .. } => Self::Lost,
        }
    }
}

/// What became of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// It ran.
    Moved {
        /// What it wrote.
        token: i64,
        /// When the lease ends now.
        ends: Instant,
    },
    /// It did not run, and the delivery still owns the row: it is asked again later.
    Skipped,
    /// The row is somebody else's, or gone: the handler is told.
    Lost,
}

impl Renewal {
    /// `in_force`: the lease before has not ended by this host's clock. The database's must say so
    /// too, but that may have been set back. `perhaps`: the renewal gave no answer, and if it ran
    /// the lease ends then.
    fn of(found: Found, token: i64, in_force: bool, perhaps: Option<Instant>) -> Self {
        match (found, perhaps) {
            (Found::Owned, _) => Self::Skipped,
            // The lease before is still in force, so nobody else can have claimed the row: the
            // later token is the one that our renewal wrote.
            (Found::Other { current: Some(current), in_force: true }, Some(ends))
                if in_force && current > token =>
            {
                Self::Moved { token: current, ends }
            }
            (Found::Other { .. } | Found::Gone { .. }, _) => Self::Lost,
        }
    }
}

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
    /// The statement with these outcomes gave no answer: it may have run, or still run later.
    pub fn unanswered(&mut self, keys: &[Key]) {
        for &key in keys {
            let entry = &mut self.entries[key];
            entry.state = State::Unknown;
            entry.perhaps_settled = true;
        }
    }

    /// An outcome was looked up. What is asked again is asked at `later`.
    pub fn outcome_found(&mut self, key: Key, found: Found, later: Instant) -> Verdict {
        let entry = &mut self.entries[key];
        let unknown = entry.state == State::Unknown;
        let verdict = Verdict::of(found, unknown, entry.perhaps_settled);
        match verdict {
            Verdict::Again => entry.state = State::Settling,
            Verdict::Later => self.ask_again(key, later),
            Verdict::Done => self.settled(key),
            Verdict::Lost => self.end(key, Err(Unwritten::Lost)),
        }
        verdict
    }

    /// A lease was looked up. If its renewal gave no answer and ran, it ends at `perhaps`.
    pub fn lease_found(
        &mut self,
        key: Key,
        found: Found,
        now: Instant,
        perhaps: Option<Instant>,
    ) -> Renewal {
        let entry = &self.entries[key];
        let renewal = Renewal::of(found, entry.token, now < entry.ends, perhaps);
        match renewal {
            Renewal::Moved { token, ends } => self.renewed(key, token, ends),
            Renewal::Skipped => self.not_renewed(key),
            Renewal::Lost => self.lose(key),
        }
        renewal
    }

    /// An answered statement left a row out that the delivery owns. `true`, once a delivery: it is
    /// more than a lock of a moment.
    pub fn left_out(&mut self, key: Key) -> bool {
        let entry = &mut self.entries[key];
        let is_told = entry.left_out == STUCK;
        entry.left_out = STUCK.min(entry.left_out + 1);
        !is_told && entry.left_out == STUCK
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::Claimed;
    use super::{Ledger, Renewal, STUCK, Verdict};
    use crate::descriptor::TimeForm;
    use crate::dialect::Event;
    use crate::settle::{Found, Settlement};

    const TOKEN: i64 = 100;
    const GONE: Found = Found::Gone { in_force: true };
    const GONE_LATE: Found = Found::Gone { in_force: false };
    const RELEASED: Found = Found::Other { current: None, in_force: true };
    const EARLIER: Found = Found::Other { current: Some(TOKEN - 1), in_force: true };
    const LATER: Found = Found::Other { current: Some(TOKEN + 1), in_force: true };
    const LATER_LATE: Found = Found::Other { current: Some(TOKEN + 1), in_force: false };

    /// A ledger with one row, which a worker has, and the end of its lease.
    fn one_row() -> (Ledger<i64, ()>, Instant) {
        let now = Instant::now();
        let ends = now + Duration::from_secs(30);
        let mut ledger = Ledger::new(TimeForm::Native, true);
        ledger.claimed(Claimed { id: 1, token: TOKEN, attempt: 1, row: () }, ends);
        assert!(ledger.start(now).is_some(), "the row is started");
        (ledger, ends)
    }

    /// The same, with a statement about its outcome on its way.
    fn settling() -> Ledger<i64, ()> {
        let (mut ledger, _) = one_row();
        ledger.finish(0, Settlement::new(Event::Ack), None);
        assert!(ledger.next_settlement(Instant::now(), 1).is_some(), "its outcome waits");
        ledger
    }

    #[test]
    fn a_row_that_a_settlement_left_out_is_asked_again_or_lost() {
        let cases = [
            (Found::Owned, Verdict::Later),
            (GONE, Verdict::Lost),
            (GONE_LATE, Verdict::Lost),
            (RELEASED, Verdict::Lost),
            (EARLIER, Verdict::Lost),
            (LATER, Verdict::Lost),
            (LATER_LATE, Verdict::Lost),
        ];
        for (found, verdict) in cases {
            let mut ledger = settling();
            let later = Instant::now();
            assert_eq!(ledger.outcome_found(0, found, later), verdict, "{found:?}");
            let again = (verdict == Verdict::Later).then_some(later);
            assert_eq!((ledger.next_due(), ledger.is_empty()), (again, again.is_none()));
        }
    }

    #[test]
    fn a_settlement_without_an_answer_is_done_sent_again_or_lost() {
        let cases = [
            (Found::Owned, Verdict::Again),
            (GONE, Verdict::Done),
            (GONE_LATE, Verdict::Lost),
            (RELEASED, Verdict::Lost),
            (EARLIER, Verdict::Lost),
            (LATER, Verdict::Lost),
            (LATER_LATE, Verdict::Lost),
        ];
        for (found, verdict) in cases {
            let mut ledger = settling();
            ledger.unanswered(&[0]);
            assert_eq!(ledger.outcome_found(0, found, Instant::now()), verdict, "{found:?}");
            assert_eq!((ledger.next_due(), ledger.is_empty()), (None, verdict != Verdict::Again));
        }
    }

    #[test]
    fn a_settlement_that_commits_after_it_was_sent_again_is_done() {
        for locked in [false, true] {
            let mut ledger = settling();
            let now = Instant::now();
            ledger.unanswered(&[0]);
            assert_eq!(ledger.outcome_found(0, Found::Owned, now), Verdict::Again);
            // The second one leaves the row out: the first is only now at work on it.
            if locked {
                assert_eq!(ledger.outcome_found(0, Found::Owned, now), Verdict::Later);
                assert!(ledger.next_settlement(now, 1).is_some(), "it is asked again");
            }
            assert_eq!(ledger.outcome_found(0, GONE, now), Verdict::Done);
        }
    }

    #[test]
    fn a_lease_that_a_renewal_left_out_is_asked_again_or_lost() {
        let cases = [
            (Found::Owned, Renewal::Skipped),
            (GONE, Renewal::Lost),
            (GONE_LATE, Renewal::Lost),
            (RELEASED, Renewal::Lost),
            (EARLIER, Renewal::Lost),
            (LATER, Renewal::Lost),
            (LATER_LATE, Renewal::Lost),
        ];
        for (found, renewal) in cases {
            let (mut ledger, _) = one_row();
            assert_eq!(ledger.next_renewal(1, |_| true).keys, [0]);
            assert_eq!(ledger.lease_found(0, found, Instant::now(), None), renewal, "{found:?}");
            let again: &[usize] = if renewal == Renewal::Skipped { &[0] } else { &[] };
            assert_eq!(ledger.next_renewal(1, |_| true).keys, again);
            assert_eq!(ledger.cancellation(&[0]).is_cancelled(), again.is_empty());
        }
    }

    #[test]
    fn a_renewal_without_an_answer_moved_the_lease_if_nobody_else_can_have() {
        let (_, ends) = one_row();
        let perhaps = ends + Duration::from_secs(15);
        let moved = Renewal::Moved { token: TOKEN + 1, ends: perhaps };
        let cases = [
            (Found::Owned, Renewal::Skipped, Renewal::Skipped),
            (GONE, Renewal::Lost, Renewal::Lost),
            (GONE_LATE, Renewal::Lost, Renewal::Lost),
            (RELEASED, Renewal::Lost, Renewal::Lost),
            (EARLIER, Renewal::Lost, Renewal::Lost),
            (LATER, moved, Renewal::Lost),
            (LATER_LATE, Renewal::Lost, Renewal::Lost),
        ];
        for (found, in_time, too_late) in cases {
            for (late, renewal) in [(false, in_time), (true, too_late)] {
                let (mut ledger, ends) = one_row();
                let now = if late { ends } else { Instant::now() };
                assert_eq!(ledger.next_renewal(1, |_| true).keys, [0]);
                let found_now = ledger.lease_found(0, found, now, Some(perhaps));
                assert_eq!(found_now, renewal, "{found:?}");
                if renewal == moved {
                    let next = ledger.next_renewal(1, |ends| ends == perhaps);
                    assert_eq!(next.rows.tokens, [TOKEN + 1]);
                }
            }
        }
    }

    #[test]
    fn a_row_that_is_left_out_again_and_again_is_told_once() {
        let (mut ledger, ends) = one_row();
        let told = |ledger: &mut Ledger<_, _>| (0..10).filter(|_| ledger.left_out(0)).count();
        for _ in 1..STUCK {
            assert!(!ledger.left_out(0));
        }
        // A renewal that moves the lease shows that nothing keeps the row as it is.
        ledger.renewed(0, TOKEN + 1, ends);
        for _ in 1..STUCK {
            assert!(!ledger.left_out(0));
        }
        assert_eq!(told(&mut ledger), 1);
        ledger.renewed(0, TOKEN + 2, ends);
        assert_eq!(told(&mut ledger), 0);
    }
}
