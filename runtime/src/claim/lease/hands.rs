//! Rows from the buffer to whoever works on them, and back.

use std::time::Instant;

use super::{Key, Leases, Ledger};
use crate::backend::Backend;
use crate::handler::{TableOn, Taken};

impl<DB: Backend, T: TableOn<DB>> Leases<DB, T> {
    /// Takes the rows of one call out of the buffer. `false`: there are none.
    pub(crate) fn take_rows(&self, keys: &mut Vec<Key>, rows: &mut Vec<Taken<DB::Row>>) -> bool {
        let max = self.subscription.settings.batch;
        let (late, buffered) = {
            let mut ledger = self.ledger.lock();
            ledger.start_batch(Instant::now(), max, keys, rows);
            (ledger.take_late(), ledger.buffered())
        };
        if late {
            self.signals.outcomes.notify_one();
        }
        // Without work too: rows whose leases ran out have left the buffer, and nobody else tells
        // the claimer.
        self.signals.room_at(buffered);
        !keys.is_empty()
    }

    /// Notes what becomes of the rows of one call. `note` says whether the settler must look again
    /// at what it is to do later.
    pub(crate) fn hand_in(&self, note: impl FnOnce(&mut Ledger<T::Id, DB::Row>) -> bool) {
        let (tell, buffered) = {
            let mut ledger = self.ledger.lock();
            let before = ledger.waiting();
            let later = note(&mut ledger);
            ledger.worker_is_free();
            (later || before == 0 && ledger.waiting() > 0, ledger.buffered())
        };
        if tell {
            self.signals.outcomes.notify_one();
        }
        // Its worker is free.
        self.signals.room_at(buffered);
        if self.subscription.draining.is_cancelled() {
            self.signals.settled.notify_one();
        }
    }
}
