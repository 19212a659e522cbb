//! The steps of a history, drawn from a seed. A step that has nothing to do does nothing, so any
//! steps can be left out of a history and what is left is still one.

use queue_table::__private::lease::{ClaimFrom, Event};

/// The processes of a history.
pub(crate) const PROCESSES: usize = 3;

/// The lease of the first process, in microseconds: short, so that times meet each other.
pub(crate) const LEASE: i64 = 40;

/// Whichever statement was sent last.
pub(crate) const LAST: usize = usize::MAX;

/// One thing that happens. `pick` chooses among what is there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Rows are inserted; `delay` puts them off.
    Insert { rows: usize, delay: Option<i64> },
    /// A process sends a claim.
    Claim { process: usize, from: ClaimFrom, limit: usize, which: Which },
    /// A worker of a process takes a row out of the buffer.
    Start { process: usize },
    /// A handler ends.
    Finish { process: usize, pick: usize, event: Event, delay: i64 },
    /// A row that nobody can decode is kept.
    Hold { process: usize, pick: usize, wait: i64 },
    /// The keeper of a process sends a renewal.
    Renew { process: usize },
    /// The settler of a process sends a settlement.
    Settle { process: usize },
    /// A statement that was sent runs in the database.
    Run { pick: usize },
    /// A statement is answered; what gave no answer is looked up.
    Answer { pick: usize },
    /// A statement runs and is answered.
    Go { pick: usize },
    /// A connection is lost. `late`: the server still runs the statement, some time.
    Lose { pick: usize, late: bool },
    /// A process dies.
    Crash { process: usize, late: bool },
    /// A process drains.
    GiveBack { process: usize },
    /// Time passes.
    Pass { micros: i64 },
    /// Somebody sets the database's clock.
    Set { micros: i64 },
    /// The user deletes a row.
    Delete { pick: usize },
    /// The user locks a row, in a transaction that stays open.
    Lock { pick: usize },
    /// The user ends that transaction.
    Unlock,
}

/// Which of the rows that are due and free a claim takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    /// The first ones.
    All,
    /// The first ones but for a third of all rows.
    Except { pick: usize },
    /// A single one.
    One { pick: usize },
}

/// Draws `count` steps or a few more.
pub(crate) fn draw(rng: &mut fastrand::Rng, count: usize) -> Vec<Step> {
    let mut steps = vec![Step::Insert { rows: 4, delay: None }];
    while steps.len() < count {
        let step = one(rng);
        steps.push(step);
        if matches!(step, Step::Claim { .. } | Step::Renew { .. } | Step::Settle { .. }) {
            let lose = Step::Lose { pick: LAST, late: rng.bool() };
            match rng.u8(..20) {
                0..14 => steps.push(Step::Go { pick: LAST }),
                14 => steps.push(lose),
                15..17 => steps.extend([Step::Run { pick: LAST }, lose]),
                _ => {}
            }
        }
    }
    steps
}

fn one(rng: &mut fastrand::Rng) -> Step {
    let process = rng.usize(..PROCESSES);
    let pick = rng.usize(..1000);
    match rng.u8(..100) {
        0..8 => {
            let delay = rng.bool().then(|| among(rng, &[0, 1, 20, 60]));
            Step::Insert { rows: rng.usize(1..4), delay }
        }
        8..22 => {
            let from = among(rng, &[ClaimFrom::Start, ClaimFrom::Watermark, ClaimFrom::Retries]);
            let from = if rng.bool() { ClaimFrom::Start } else { from };
            let which = match rng.u8(..8) {
                0 => Which::One { pick },
                1 | 2 => Which::Except { pick },
                _ => Which::All,
            };
            Step::Claim { process, from, limit: rng.usize(1..5), which }
        }
        22..36 => Step::Start { process },
        36..46 => {
            let (event, delay) = (among(rng, &Event::ALL), among(rng, &[0, 1, 10, 50]));
            Step::Finish { process, pick, event, delay }
        }
        46..48 => Step::Hold { process, pick, wait: among(rng, &[0, 5, 30]) },
        48..60 => Step::Renew { process },
        60..72 => Step::Settle { process },
        72..76 => Step::Run { pick },
        76..81 => Step::Answer { pick },
        81..84 => Step::Go { pick },
        84 => Step::Lose { pick, late: rng.bool() },
        85 => Step::Crash { process, late: rng.bool() },
        86 => Step::GiveBack { process },
        87..93 => Step::Pass { micros: among(rng, &[1, 3, 10, 15, 20, 39, 40, 41, 100]) },
        93..95 => Step::Set { micros: among(rng, &[-100, -40, -10, -1, 1, 10, 40, 100]) },
        95 => Step::Delete { pick },
        96..98 => Step::Lock { pick },
        _ => Step::Unlock,
    }
}

fn among<T: Copy>(rng: &mut fastrand::Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())]
}
