//! A worker of a row-lock subscription: calls the handler inside the transaction that claimed its
//! rows, settles them in it, and commits.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::call::call;
use crate::backend::{Backend, Failure};
use crate::claim::{Backoff, Chain, RowLocks};
use crate::handler::{Declared, QueueTable, Subscribed, Taken};
use crate::settle::{Refused, Settling, settle_locked};
use crate::telemetry;

/// How often the connection of a delivery is asked whether it is alive. With the time that an answer
/// may take, a handler knows within ten seconds that its row is nobody's any more.
const PROBE: Duration = Duration::from_secs(5);
const PROBE_LIMIT: Duration = Duration::from_secs(4);

type Row<S> = <S as Declared>::Row;

/// Works until the subscription drains. The rows that are in work then are worked to their end.
pub(crate) async fn work<DB: Backend, S: Subscribed<DB>>(locks: Arc<RowLocks<DB, Row<S>>>) {
    let mut backoff = Backoff::default();
    // The lists are kept from call to call.
    let mut settlings = Vec::new();
    while let Some(mut chain) = locks.next().await {
        let ended = loop {
            match deliver::<DB, S>(&mut chain, &mut settlings).await {
                Ok(ControlFlow::Continue(())) => backoff.reset(),
                Ok(ControlFlow::Break(())) => break Ok(chain.is_crowded()),
                Err(failure) => break Err(failure),
            }
            // A handler that never waits must not keep the thread for ever.
            tokio::task::coop::consume_budget().await;
        };
        chain.give_back().await;
        match ended {
            Ok(false) => backoff.reset(),
            Ok(true) => locks.subscription.pause(backoff.pause()).await,
            Err(failure) => {
                locks.subscription.failed(failure);
                locks.subscription.pause(backoff.pause()).await;
            }
        }
    }
}

/// Works on the rows of a chain, and claims the next ones; `Break` if it has none then.
async fn deliver<DB: Backend, S: Subscribed<DB>>(
    chain: &mut Chain<'_, DB, Row<S>>,
    settlings: &mut Vec<Settling>,
) -> Result<ControlFlow<()>, Failure> {
    settlings.clear();
    if handle::<DB, S>(chain, settlings).await?.is_break() {
        return Ok(ControlFlow::Break(()));
    }
    match settle_locked(chain, settlings).await {
        Ok(()) => {}
        Err(Refused::Rows) => return Ok(ControlFlow::Break(())),
        Err(Refused::Failed(failure)) => return Err(failure),
    }
    for Settling { settlement, .. } in settlings.iter() {
        chain.locks.subscription.follow_up(settlement.event, [settlement.delay]);
    }
    if chain.is_open() && chain.claim().await? {
        Ok(ControlFlow::Continue(()))
    } else {
        Ok(ControlFlow::Break(()))
    }
}

/// Calls the handler, and asks meanwhile whether the connection is alive. `Break`: it was aborted.
async fn handle<DB: Backend, S: Subscribed<DB>>(
    chain: &mut Chain<'_, DB, Row<S>>,
    settlings: &mut Vec<Settling>,
) -> Result<ControlFlow<()>, Failure> {
    let Chain { locks, session, rows, .. } = chain;
    let cancellation = OnceLock::new();
    // Made only for a handler that asks, or that is to be told.
    let token = || cancellation.get_or_init(|| locks.near.child_token()).clone();
    let mut lost = None;
    let mut calling = pin!(Some(call::<DB, S>(&locks.subscription, rows, &token)));
    let verdicts = {
        let mut handled = pin!(poll_fn(|cx| match calling.as_mut().as_pin_mut() {
            Some(calling) => calling.poll(cx),
            None => Poll::Pending,
        }));
        let mut probe = pin!(sleep(PROBE));
        loop {
            tokio::select! {
                biased;
                verdicts = &mut handled => break Some(verdicts),
                () = locks.abort.cancelled() => break None,
                () = &mut probe, if lost.is_none() => {
                    let alive = session.run_within(PROBE_LIMIT, "probe", locks.texts.probe);
                    let (alive, verdicts) = beside(alive, handled.as_mut()).await;
                    if let Err(failure) = alive {
                        telemetry::row_lock_lost(Row::<S>::TABLE.name(), rows.len(), &failure.error);
                        token().cancel();
                        lost = Some(failure);
                    }
                    if verdicts.is_some() {
                        break verdicts;
                    }
                    probe.as_mut().reset(Instant::now() + PROBE);
                }
            }
        }
    };
    let Some(verdicts) = verdicts else {
        // What the handler has in its hands may panic when it is dropped.
        let dropped = catch_unwind(AssertUnwindSafe(|| calling.set(None)));
        return lost.map_or(Ok(ControlFlow::Break(())), Err).inspect(|_| drop(dropped));
    };
    // What the handler said is of no effect: its transaction is no more.
    if let Some(failure) = lost {
        return Err(failure);
    }
    let settling = |(verdict, taken): (_, &Taken<DB::Row>)| {
        Settling::of::<DB, Row<S>>(&locks.subscription, verdict, taken)
    };
    settlings.extend(verdicts.zip(rows.iter()).map(settling));
    Ok(ControlFlow::Continue(()))
}

/// Runs an operation to its end, and another future beside it, which may end before.
async fn beside<A: Future, B: Future>(
    operation: A,
    mut other: Pin<&mut B>,
) -> (A::Output, Option<B::Output>) {
    let mut operation = pin!(operation);
    let ended = tokio::select! {
        biased;
        answer = &mut operation => return (answer, None),
        ended = &mut other => ended,
    };
    (operation.await, Some(ended))
}
