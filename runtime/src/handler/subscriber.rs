//! What `#[subscriber]` makes of a function.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use super::{
    Arguments, Cx, Declaration, IntoOutcome, IntoOutcomes, Meta, Needs, Of, Outcome, Outcomes,
    QueueTable, TableOn,
};
use crate::backend::Backend;

/// What a subscriber's function returns: its future, which bears the mark of the subscriber.
///
/// `b.mount(send)` finds the declaration by the mark, and a plain `send(&email).await` in a test is
/// a plain call.
#[must_use = "futures do nothing unless you `.await` them"]
pub trait Run<S>: Marked<Mark = S> + IntoFuture<IntoFuture: Send> {}

/// Something that bears the mark of a subscriber.
pub trait Marked {
    /// The mark.
    type Mark;
}

/// The mark of a subscriber: a type that is as visible as its function.
pub trait Mark: Sized + Send + 'static {
    /// What the attribute made of the function.
    type Handler: Declared;
}

/// The table of a subscriber.
pub(crate) type TableOf<S> = <<S as Mark>::Handler as Declared>::Row;

/// A future that bears the mark `S`.
pub struct Running<S, F>(F, PhantomData<fn() -> S>);

/// Marks the future of a subscriber's function.
pub const fn run<S, F: Future>(future: F) -> Running<S, F> {
    Running(future, PhantomData)
}

impl<S, F> fmt::Debug for Running<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl<S, F> Marked for Running<S, F> {
    type Mark = S;
}

// After a mistake in the arguments nothing is asked of the future: it holds them.
impl<S: Mark, F: Future> IntoFuture for Running<S, F> {
    type Output = F::Output;
    type IntoFuture = <<S::Handler as Declared>::Args as Of<F>>::It;

    fn into_future(self) -> F {
        self.0
    }
}

impl<S: Mark, F: Future> Run<S> for Running<S, F> where Self: IntoFuture<IntoFuture: Send> {}

/// What the attribute made of a function: its types and its settings as facts, and its call.
pub trait Declared: Sized + Send + 'static {
    /// The table.
    type Row: QueueTable;
    /// The function's arguments: those that it is lent are owned here.
    type Takes;
    /// The same, if the whole declaration is right.
    type Args;
    /// [`Set`](super::Set) if the attribute has a cap and a dead letter, else [`Unset`](super::Unset).
    type Cap;
    /// The attribute's settings.
    const DECLARATION: Declaration;

    /// Calls the function.
    fn call(args: Self::Args, meta: &Meta) -> impl Future<Output = Outcomes> + Send;
}

/// A subscriber on a database.
pub trait Subscribed<DB: Backend>: Declared<Row: TableOn<DB>> {
    /// Takes the handler's arguments and calls it; the error is what happens to rows from which
    /// they cannot be taken.
    fn handle(
        cx: &mut Cx<'_, DB, Self::Row>,
    ) -> impl Future<Output = Result<Outcomes, Outcome>> + Send;

    /// Names what the service must have for it.
    fn needs(needs: &mut Needs);
}

impl<DB, S> Subscribed<DB> for S
where
    DB: Backend,
    S: Declared<Row: TableOn<DB>, Args: Arguments<DB, S::Row>>,
{
    async fn handle(cx: &mut Cx<'_, DB, S::Row>) -> Result<Outcomes, Outcome> {
        let args = S::Args::take(cx)?;
        Ok(S::call(args, cx.meta()).await)
    }

    fn needs(needs: &mut Needs) {
        S::Args::needs(needs);
    }
}

/// What a handler without `on_error` returned.
pub fn outcome<O: IntoOutcome>(returned: O) -> Outcomes {
    Outcomes::All(returned.into_outcome())
}

/// What a handler with `on_error` returned.
pub fn outcome_or<O: IntoOutcome, E>(
    returned: Result<O, E>,
    on_error: impl FnOnce(&E, &Meta) -> Outcome,
    meta: &Meta,
) -> Outcomes {
    Outcomes::All(match returned {
        Ok(value) => value.into_outcome(),
        Err(error) => on_error(&error, meta),
    })
}

/// What a handler of batches without `on_error` returned.
pub fn outcomes<O: IntoOutcomes>(returned: O) -> Outcomes {
    returned.into_outcomes()
}

/// What a handler of batches with `on_error` returned: an error is about all of its rows.
pub fn outcomes_or<O: IntoOutcomes, E>(
    returned: Result<O, E>,
    on_error: impl FnOnce(&E, &Meta) -> Outcome,
    meta: &Meta,
) -> Outcomes {
    match returned {
        Ok(value) => value.into_outcomes(),
        Err(error) => Outcomes::All(on_error(&error, meta)),
    }
}
