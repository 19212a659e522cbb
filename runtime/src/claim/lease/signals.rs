//! Who waits for what in a lease subscription.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Who waits for what in a lease subscription.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// Rows are in the buffer.
    pub(crate) work: Notify,
    /// There is room for rows.
    pub(crate) room: Notify,
    claimer_waits: AtomicBool,
    /// The buffer is low at this many rows.
    low: AtomicUsize,
    /// Outcomes wait to be written.
    pub(crate) outcomes: Notify,
    /// A row was settled while the subscription drains.
    pub(crate) settled: Notify,
}

impl Signals {
    /// The claimer is about to wait for room.
    pub(crate) fn expect_room(&self) {
        self.claimer_waits.store(true, Ordering::SeqCst);
    }

    /// At how many rows the claimer wants to be told that the buffer is low.
    pub(crate) fn buffer_is_low_at(&self, rows: usize) {
        self.low.store(rows, Ordering::Relaxed);
    }

    /// Deliveries are over: there may be room, and a drain may have ended.
    pub(crate) fn removed(&self, buffered: usize) {
        self.room_at(buffered);
        self.settled.notify_one();
    }

    /// Tells the claimer, if it waits, that there may be room.
    pub(crate) fn room_at(&self, buffered: usize) {
        let low = buffered <= self.low.load(Ordering::Relaxed);
        if low && self.claimer_waits.load(Ordering::SeqCst) {
            self.claimer_waits.store(false, Ordering::SeqCst);
            self.room.notify_one();
        }
    }
}
