//! The settings of a subscription, decided: what the mount and the broker leave open, and what
//! contradicts itself.

use std::time::Duration;

use super::Shared;
use crate::backend::{Backend, LONGEST};
use crate::claim::Resolved;
use crate::handler::{DeadLetter, DecodeFailure, Settings};
use crate::settle::Cap;

/// Beyond this a batch is a mistake in a digit: all of its rows are in memory, decoded, and one
/// statement settles them.
const MOST_ROWS_OF_A_BATCH: usize = 10_000;

/// Settles what the mount and the broker leave open, and refuses what contradicts itself.
pub(super) fn resolve<DB: Backend>(
    shared: &Shared<DB>,
    settings: Settings,
) -> Result<Resolved, String> {
    let Settings { group, workers, batch, timeout, on_decode_failure, .. } = settings;
    // Bounded, so that no sum of times overflows; nobody waits longer.
    let bounded = |duration: Duration| duration.min(LONGEST);
    let poll_interval = bounded(settings.poll_interval.unwrap_or(shared.defaults.poll_interval));
    let lease = bounded(settings.lease.unwrap_or(shared.defaults.lease));
    let timeout = timeout.map(bounded);
    let cap = match (settings.max_attempts, settings.dead_letter) {
        (Some(max_attempts), Some(dead_letter)) => Some(Cap { max_attempts, dead_letter }),
        (None, None) => None,
        (Some(_), None) => {
            return Err(
                "`max_attempts` needs `dead_letter_group`, where spent rows go, or in a table \
                 without groups `dead_letter_table`"
                    .to_owned(),
            );
        }
        (None, Some(_)) => {
            return Err("a dead letter needs `max_attempts`, or no row goes there".to_owned());
        }
    };
    if let (Some(DeadLetter::Group(dead)), Some(group)) =
        (cap.as_ref().map(|cap| &cap.dead_letter), &group)
        && dead == group
    {
        return Err(format!(
            "the dead-letter group `{group}` is the subscription's own group, so a spent row \
             would come back for ever; name another group"
        ));
    }
    if cap.as_ref().is_some_and(|cap| cap.max_attempts == 0) {
        return Err("`max_attempts` must be at least 1".to_owned());
    }
    if on_decode_failure == DecodeFailure::DeadLetter && cap.is_none() {
        return Err(
            "`on_decode_failure` is `dead_letter`, and there is none: add `max_attempts` and \
             `dead_letter_group`, or in a table without groups `dead_letter_table`"
                .to_owned(),
        );
    }
    if workers == 0 {
        return Err("`workers` must be at least 1".to_owned());
    }
    if batch.is_some_and(|rows| rows == 0 || rows > MOST_ROWS_OF_A_BATCH) {
        return Err(format!("`batch` must be from 1 to {MOST_ROWS_OF_A_BATCH} rows a call"));
    }
    if poll_interval < Duration::from_millis(1) {
        return Err("`poll_interval` must be at least a millisecond".to_owned());
    }
    // Shorter than a few round trips, no lease could be renewed in time.
    if lease < Duration::from_millis(100) {
        return Err("`lease` must be at least 100 milliseconds".to_owned());
    }
    Ok(Resolved {
        group,
        workers,
        batch: batch.unwrap_or(1),
        poll_interval,
        lease,
        timeout,
        cap,
        on_decode_failure,
    })
}
