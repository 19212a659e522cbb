//! A worker: one row after the other through one handler.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tracing::Instrument;

use super::{Delivery, log};
use crate::backend::Backend;
use crate::claim::{Subscription, Work};
use crate::dialect::Event;
use crate::handler::{Cx, Declared, Outcome, QueueTable, Subscribed, TableOn, Verb};
use crate::settle::Settlement;
use crate::telemetry;

type Row<S> = <S as Declared>::Row;

/// Works until the subscription drains. The row that is in work then is worked to its end.
pub(crate) async fn work<DB: Backend, S: Subscribed<DB>>(
    subscription: Arc<Subscription<DB, Row<S>>>,
) {
    while let Some(work) = next(&subscription).await {
        deliver::<DB, S>(&subscription, work).await;
        // A handler that never waits must not keep the thread for ever.
        tokio::task::coop::consume_budget().await;
    }
}

/// Waits for a row; `None` when the subscription drains.
async fn next<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
) -> Option<Work<DB::Row>> {
    let signals = &subscription.signals;
    loop {
        if let Some(work) = start(subscription) {
            return work;
        }
        let mut more = pin!(signals.work.notified());
        // In the queue before the second look, so that no row that comes between is missed.
        more.as_mut().enable();
        if let Some(work) = start(subscription) {
            return work;
        }
        tokio::select! {
            () = signals.draining.cancelled() => return None,
            () = more => {}
        }
    }
}

/// A row, if there is one; the inner `None` when the subscription drains.
fn start<DB: Backend, T: TableOn<DB>>(
    subscription: &Subscription<DB, T>,
) -> Option<Option<Work<DB::Row>>> {
    if subscription.signals.draining.is_cancelled() {
        return Some(None);
    }
    let (work, late, buffered) = {
        let mut ledger = subscription.ledger.lock();
        (ledger.start(Instant::now()), ledger.take_late(), ledger.buffered())
    };
    if late {
        subscription.signals.outcomes.notify_one();
    }
    // Without work too: rows whose leases ran out have left the buffer, and nobody else tells the
    // claimer.
    subscription.signals.room_at(buffered);
    work.map(Some)
}

async fn deliver<DB: Backend, S: Subscribed<DB>>(
    subscription: &Subscription<DB, Row<S>>,
    work: Work<DB::Row>,
) {
    let Work { key, attempt, row } = work;
    let delivery = Delivery::new(subscription, key);
    let started = Instant::now();
    let span = if tracing::enabled!(tracing::Level::INFO) {
        let id = subscription.ledger.lock().id(key).clone();
        telemetry::delivery(DB::NAME, Row::<S>::TABLE.name(), &id, subscription.name, attempt)
    } else {
        tracing::Span::none()
    };
    let mut cx = Cx::new(subscription, key, &row, attempt);
    let outcome = call::<DB, S>(subscription, &mut cx).instrument(span).await;
    let undecodable = cx.is_undecodable();
    let took = started.elapsed();
    let delays = subscription.delays();
    let pause = match outcome.verb {
        Verb::RetryAfter(pause) if !delays => Some(pause),
        _ => None,
    };
    let cap = subscription.settings.cap.as_ref();
    let settlement = Settlement::of(outcome, attempt, cap, delays);
    log(subscription, key, &settlement);
    match pause {
        // The table cannot put the row off, so this process keeps it for that time.
        Some(pause) if undecodable && settlement.event == Event::Retry => {
            delivery.hold(pause, settlement);
        }
        Some(_) if !undecodable => {
            telemetry::retry_after_without_column(Row::<S>::TABLE.name());
            delivery.settle(settlement, took);
        }
        _ => delivery.settle(settlement, took),
    }
}

/// Calls the handler; a panic and a timeout are retries.
async fn call<DB: Backend, S: Subscribed<DB>>(
    subscription: &Subscription<DB, Row<S>>,
    cx: &mut Cx<'_, DB, Row<S>>,
) -> Outcome {
    let (key, timeout) = (cx.key(), subscription.settings.timeout);
    // Within: a handler that is cut off is dropped, and that can panic too.
    let handled = async {
        match timeout {
            None => S::handle(cx).await,
            Some(timeout) => match tokio::time::timeout(timeout, S::handle(cx)).await {
                Ok(handled) => handled,
                Err(_) => Ok(timed_out(timeout)),
            },
        }
    };
    let handled = AssertUnwindSafe(handled).catch_unwind().await;
    let handled = handled.map(|outcome| outcome.unwrap_or_else(|instead| instead));
    handled.unwrap_or_else(|panic| {
        let reason = format!("the handler panicked: {}", message(&*panic));
        let id = subscription.ledger.lock().id(key).clone();
        telemetry::handler_panicked(Row::<S>::TABLE.name(), &id, &reason);
        Outcome::retry().because(reason)
    })
}

fn timed_out(timeout: Duration) -> Outcome {
    Outcome::retry().because(format_args!("the handler took longer than {timeout:?}"))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
