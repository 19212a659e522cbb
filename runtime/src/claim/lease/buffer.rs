//! How many rows may be claimed before a worker is free for them.

use std::time::Duration;

/// The most rows that wait in the buffer.
const MAX_ROWS: usize = 500;

/// The most bytes that wait in the buffer.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The longest time that the buffer's rows may take to work off.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// The size of the buffer, learned from claim to claim.
///
/// It starts at zero and grows only on claims whose rows are all delivered for the first time, so
/// that a row that kills its process costs no attempt of hundreds of rows that never ran.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    workers: usize,
    /// How many rows a call of the handler takes.
    batch: usize,
    lease: Duration,
    enabled: bool,
    size: usize,
}

/// What a claim returned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
    pub(crate) only_first_deliveries: bool,
}

impl Buffer {
    /// `enabled` is false where a single attempt is all that a row has.
    pub(crate) const fn new(workers: usize, batch: usize, lease: Duration, enabled: bool) -> Self {
        Self { workers, batch, lease, enabled, size: 0 }
    }

    /// How many rows may wait.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Learns from a claim, and from how long handlers take for a row of
    /// their calls.
    pub(crate) fn learn(&mut self, claim: Claim, handler_time: Duration) {
        if !self.enabled || !claim.only_first_deliveries {
            self.size = 0;
        } else if claim.rows > 0 {
            let grown = (2 * self.size).max(self.workers * self.batch);
            self.size = grown.min(self.limit(claim, handler_time));
        }
    }

    fn limit(&self, claim: Claim, handler_time: Duration) -> usize {
        let wait = MAX_WAIT.min(self.lease / 4).as_nanos();
        // A row waits for a whole call of the handler.
        let call = handler_time.as_nanos().saturating_mul(self.batch as u128);
        let by_time = match call {
            // Nothing has finished yet: nobody knows how long a row would wait.
            0 => 0,
            time => usize::try_from(wait / time)
                .unwrap_or(MAX_ROWS)
                .saturating_mul(self.workers)
                .saturating_mul(self.batch),
        };
        let by_bytes = match claim.bytes / claim.rows {
            0 => MAX_ROWS,
            mean => MAX_BYTES / mean,
        };
        by_time.min(by_bytes).min(MAX_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Claim};
    use std::time::Duration;

    const LEASE: Duration = Duration::from_secs(30);

    fn claim(rows: usize) -> Claim {
        Claim { rows, bytes: rows * 100, only_first_deliveries: true }
    }

    #[test]
    fn it_starts_at_zero_and_grows_to_its_limit_with_quick_handlers() {
        let mut buffer = Buffer::new(32, 1, LEASE, true);
        assert_eq!(buffer.size(), 0);
        let sizes = std::iter::repeat_with(|| {
            buffer.learn(claim(32), Duration::from_micros(1));
            buffer.size()
        });
        let sizes: Vec<_> = sizes.take(6).collect();
        assert_eq!(sizes, [32, 64, 128, 256, 500, 500]);
    }

    #[test]
    fn it_stays_empty_until_a_handler_has_finished() {
        let mut buffer = Buffer::new(8, 1, LEASE, true);
        buffer.learn(claim(8), Duration::ZERO);
        assert_eq!(buffer.size(), 0);
    }

    #[test]
    fn it_stays_empty_with_slow_handlers() {
        let mut buffer = Buffer::new(8, 1, LEASE, true);
        buffer.learn(claim(8), Duration::from_secs(1));
        assert_eq!(buffer.size(), 0);
    }

    #[test]
    fn a_repeated_delivery_empties_it() {
        let mut buffer = Buffer::new(8, 1, LEASE, true);
        buffer.learn(claim(8), Duration::from_micros(1));
        buffer.learn(Claim { only_first_deliveries: false, ..claim(8) }, Duration::from_micros(1));
        assert_eq!(buffer.size(), 0);
    }

    #[test]
    fn it_holds_a_quarter_of_a_short_lease_and_eight_mebibytes() {
        let mut buffer = Buffer::new(10, 1, Duration::from_millis(40), true);
        buffer.learn(claim(10), Duration::from_millis(5));
        buffer.learn(claim(10), Duration::from_millis(5));
        assert_eq!(buffer.size(), 20);
        let mut buffer = Buffer::new(100, 1, LEASE, true);
        let large = Claim { rows: 10, bytes: 10 * 1024 * 1024, only_first_deliveries: true };
        buffer.learn(large, Duration::from_micros(1));
        assert_eq!(buffer.size(), 8);
    }

    #[test]
    fn it_is_off_where_a_row_has_one_attempt() {
        let mut buffer = Buffer::new(8, 1, LEASE, false);
        buffer.learn(claim(8), Duration::from_micros(1));
        assert_eq!(buffer.size(), 0);
    }

    #[test]
    fn a_row_waits_for_a_whole_call_of_a_batch() {
        let sizes = |row: Duration| {
            let mut buffer = Buffer::new(2, 100, LEASE, true);
            let sizes = std::iter::repeat_with(|| {
                buffer.learn(claim(200), row);
                buffer.size()
            });
            sizes.take(3).collect::<Vec<_>>()
        };
        assert_eq!(sizes(Duration::from_micros(100)), [200, 400, 500], "calls of 10 ms");
        assert_eq!(sizes(Duration::from_micros(600)), [200, 200, 200], "calls of 60 ms");
        assert_eq!(sizes(Duration::from_millis(2)), [0, 0, 0], "calls of 200 ms");
    }
}
