//! How deliveries end, and who is told.

use std::time::{Duration, Instant};

use super::{Key, Ledger, State};
use crate::dialect::Event;
use crate::settle::{Settlement, Unwritten, Waiter};

impl<Id: Clone + Ord, Row> Ledger<Id, Row> {
    /// As [`finish`](Self::finish), for somebody who waits for the end of the delivery.
    pub(crate) fn finish_for(
        &mut self,
        key: Key,
        settlement: Settlement,
        took: Duration,
        waiter: Waiter,
    ) {
        if let Some(why) = &self.closed {
            // Whoever waits may have stopped waiting; here and below.
            let _ = waiter.send(Err(why.clone()));
            return;
        }
        self.entries[key].waiter = Some(waiter);
        self.finish(key, settlement, Some(took));
    }

    /// The outcome is in the table: the delivery is over.
    pub fn settled(&mut self, key: Key) {
        self.end(key, Ok(()));
    }

    /// The delivery is over, and whoever waits for it is told.
    pub(crate) fn end(&mut self, key: Key, how: Result<(), Unwritten>) {
        if let Some(waiter) = self.entries.remove(key).waiter {
            let _ = waiter.send(how);
        }
    }

    /// Nothing is written any more: whoever waits is told, and whoever comes later.
    pub(crate) fn close(&mut self, why: &Unwritten) {
        for (_, entry) in &mut self.entries {
            if let Some(waiter) = entry.waiter.take() {
                let _ = waiter.send(Err(why.clone()));
            }
        }
        self.closed.get_or_insert_with(|| why.clone());
        self.cancel_all();
    }

    /// Whether rows are on their way back that nobody worked on.
    pub(crate) fn gives_back(&self) -> bool {
        let gives_back = |state, event| state != State::Running && event == Event::GiveBack;
        self.entries.iter().any(|(_, entry)| gives_back(entry.state, entry.settlement.event))
    }

    /// When the last lease ends of those that are owned.
    pub(crate) fn last_end(&self) -> Option<Instant> {
        let owned = self.entries.iter().filter(|(_, entry)| !entry.lost);
        owned.map(|(_, entry)| entry.ends).max()
    }
}
