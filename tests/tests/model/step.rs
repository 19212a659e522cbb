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
    Claim { process: usize, from: ClaimFrom, limit: usize },
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

/// Draws `count` steps.
pub(crate) fn draw(rng: &mut fastrand::Rng, count: usize) -> Vec<Step> {
    let mut steps = vec![Step::Insert { rows: 4, delay: None }];
    while steps.len() < count {
        let step = one(rng);
        steps.push(step);
        let sends = matches!(step, Step::Claim { .. } | Step::Renew { .. } | Step::Settle { .. });
        if sends && rng.u8(..10) < 7 {
            steps.push(Step::Go { pick: LAST });
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
        8..23 => {
            let from = match rng.u8(..10) {
                0..6 => ClaimFrom::Start,
                6..9 => ClaimFrom::Watermark,
                _ => ClaimFrom::Retries,
            };
            Step::Claim { process, from, limit: rng.usize(1..5) }
        }
        23..38 => Step::Start { process },
        38..52 => {
            let delay = among(rng, &[0, 1, 10, 50]);
            Step::Finish {
                process,
                pick,
                event: *rng.choice(&Event::ALL).unwrap_or(&Event::Ack),
                delay,
            }
        }
        52..54 => Step::Hold { process, pick, wait: among(rng, &[0, 5, 30]) },
        54..61 => Step::Renew { process },
        61..73 => Step::Settle { process },
        73..77 => Step::Run { pick },
        77..81 => Step::Answer { pick },
        81..84 => Step::Go { pick },
        84..87 => Step::Lose { pick: if rng.bool() { LAST } else { pick }, late: rng.bool() },
        87 => Step::Crash { process, late: rng.bool() },
        88 => Step::GiveBack { process },
        89..94 => Step::Pass { micros: among(rng, &[1, 3, 10, 20, 39, 40, 41, 100]) },
        94..96 => Step::Set { micros: among(rng, &[-100, -40, -10, -1, 1, 10, 40, 100]) },
        96 => Step::Delete { pick },
        97..99 => Step::Lock { pick },
        _ => Step::Unlock,
    }
}

fn among(rng: &mut fastrand::Rng, values: &[i64]) -> i64 {
    values[rng.usize(..values.len())]
}
