//! The handler's call: the same for every claim mode.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::backend::Backend;
use crate::claim::Subscription;
use crate::handler::{Cx, Declared, Outcome, QueueTable, RowOutcome, Subscribed, Taken, id};
use crate::telemetry;

type Row<S> = <S as Declared>::Row;

/// Calls the handler with rows, and tells for each of them, in order, what happens to it. A panic
/// and a timeout are retries of all.
pub(crate) async fn call<DB: Backend, S: Subscribed<DB>>(
    subscription: &Subscription<DB>,
    rows: &[Taken<DB::Row>],
    cancellation: &(dyn Fn() -> CancellationToken + Send + Sync),
) -> impl Iterator<Item = RowOutcome> {
    let timeout = subscription.settings.timeout;
    let deadline = timeout.map(|timeout| (timeout, Instant::now() + timeout));
    let cut_off = deadline.map(|(_, deadline)| deadline.into_std());
    let mut cx = Cx::new(subscription, rows, cancellation, cut_off);
    // Within: a handler that is cut off is dropped, and that can panic too.
    let handled = async {
        match deadline {
            None => S::handle(&mut cx).await,
            Some((timeout, deadline)) => match timeout_at(deadline, S::handle(&mut cx)).await {
                Ok(handled) => handled,
                Err(_) => Err(timed_out(timeout)),
            },
        }
    };
    let span = span::<DB, S>(subscription, rows);
    let handled = AssertUnwindSafe(handled.instrument(span)).catch_unwind().await;
    let said = match handled {
        Ok(Ok(outcomes)) => outcomes,
        Ok(Err(instead)) => instead.into(),
        Err(panic) => {
            let reason = format!("the handler panicked: {}", message(&*panic));
            if let Ok(id) = id::<DB, Row<S>>(&rows[0].row) {
                telemetry::handler_panicked(Row::<S>::TABLE.name(), &id, &reason);
            }
            Outcome::retry().because(reason).into()
        }
    };
    said.of_rows(rows.len(), cx.into_undecodable())
}

fn span<DB: Backend, S: Subscribed<DB>>(
    subscription: &Subscription<DB>,
    rows: &[Taken<DB::Row>],
) -> tracing::Span {
    if !tracing::enabled!(tracing::Level::INFO) {
        return tracing::Span::none();
    }
    let table = Row::<S>::TABLE.name();
    match rows {
        [Taken { attempt, row }] => match id::<DB, Row<S>>(row) {
            Ok(id) => telemetry::delivery(DB::NAME, table, &id, subscription.name, *attempt),
            Err(_) => tracing::Span::none(),
        },
        rows => telemetry::batch(DB::NAME, table, rows.len(), subscription.name),
    }
}

fn timed_out(timeout: Duration) -> Outcome {
    Outcome::retry().because(format_args!("the handler took longer than {timeout:?}"))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
