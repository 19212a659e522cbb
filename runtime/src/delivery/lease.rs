//! A worker of a lease subscription: takes rows from the buffer, and hands outcomes to the settler.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::call::call;
use crate::backend::{Backend, LONGEST};
use crate::claim::{Key, Leases};
use crate::dialect::Event;
use crate::handler::{Declared, Subscribed, TableOn, Taken};
use crate::settle::{Settlement, Settling};

type Row<S> = <S as Declared>::Row;

/// Works until the subscription drains. The rows that are in work then are worked to their end.
pub(crate) async fn work<DB: Backend, S: Subscribed<DB>>(leases: Arc<Leases<DB, Row<S>>>) {
    let mut deliveries = Deliveries::new(&leases);
    while deliveries.next().await {
        deliver::<DB, S>(&mut deliveries).await;
        // A handler that never waits must not keep the thread for ever.
        tokio::task::coop::consume_budget().await;
    }
}

async fn deliver<DB: Backend, S: Subscribed<DB>>(deliveries: &mut Deliveries<'_, DB, Row<S>>) {
    let Deliveries { leases, keys, rows, settlings, .. } = deliveries;
    let started = Instant::now();
    let cancellation = || leases.ledger.lock().cancellation(keys);
    let verdicts = call::<DB, S>(&leases.subscription, rows, &cancellation).await;
    let took = started.elapsed() / u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let settling = |(verdict, taken): (_, &Taken<DB::Row>)| {
        Settling::of::<DB, Row<S>>(&leases.subscription, verdict, taken)
    };
    settlings.extend(verdicts.zip(rows.iter()).map(settling));
    deliveries.finish(Some(took));
}

/// The rows that a worker has.
///
/// Each is settled at most once. Rows that are dropped, because the worker was aborted, are given
/// back with the counts that they had.
struct Deliveries<'a, DB: Backend, T: TableOn<DB>> {
    leases: &'a Leases<DB, T>,
    keys: Vec<Key>,
    rows: Vec<Taken<DB::Row>>,
    /// What is written, one a row. The lists are kept from call to call.
    settlings: Vec<Settling>,
}

impl<'a, DB: Backend, T: TableOn<DB>> Deliveries<'a, DB, T> {
    const fn new(leases: &'a Leases<DB, T>) -> Self {
        Self { leases, keys: Vec::new(), rows: Vec::new(), settlings: Vec::new() }
    }

    /// Waits for rows; `false` when the subscription drains.
    async fn next(&mut self) -> bool {
        let Leases { subscription, signals, .. } = self.leases;
        loop {
            if let Some(started) = self.start() {
                return started;
            }
            let mut more = pin!(signals.work.notified());
            // In the queue before the second look, so that no row that comes between is missed.
            more.as_mut().enable();
            if let Some(started) = self.start() {
                return started;
            }
            tokio::select! {
                () = subscription.draining.cancelled() => return false,
                () = more => {}
            }
        }
    }

    /// Takes rows, if there are some; `Some(false)` when the subscription drains.
    fn start(&mut self) -> Option<bool> {
        if self.leases.subscription.draining.is_cancelled() {
            return Some(false);
        }
        self.leases.take_rows(&mut self.keys, &mut self.rows).then_some(true)
    }

    /// Hands the outcomes to the settler, and does not wait for it. Rows without one are given back.
    fn finish(&mut self, took: Option<Duration>) {
        let Self { leases, keys, rows, settlings } = self;
        let now = Instant::now();
        leases.hand_in(|ledger| {
            let mut held = false;
            let mut settlings = settlings.drain(..);
            for key in keys.drain(..) {
                match settlings.next() {
                    Some(Settling { settlement, pause: Some(pause) }) => {
                        ledger.hold(key, now + pause.min(LONGEST), settlement);
                        held = true;
                    }
                    Some(Settling { settlement, pause: None }) => {
                        ledger.finish(key, settlement, took);
                    }
                    None => {
                        ledger.finish(key, Settlement::new(Event::GiveBack), None);
                    }
                }
            }
            held
        });
        rows.clear();
    }
}

impl<DB: Backend, T: TableOn<DB>> Drop for Deliveries<'_, DB, T> {
    fn drop(&mut self) {
        if !self.keys.is_empty() {
            self.finish(None);
        }
    }
}
