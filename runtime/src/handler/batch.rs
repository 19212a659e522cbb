//! The message arguments of a handler of batches.

use std::ops::Deref;

use super::{
    Carries, Cx, Extractor, FromDelivery, IsRowOf, KindOf, Lent, MessageOf, Outcome, TableOn,
    TiedTo,
};
use crate::backend::Backend;

/// The messages, for a handler that takes `&[M]`.
#[derive(Debug)]
pub struct Batch<M>(Vec<M>);

impl<M> Deref for Batch<M> {
    type Target = [M];

    fn deref(&self) -> &[M] {
        &self.0
    }
}

impl<T: Carries<M>, M: Lent> Extractor<T> for Batch<M> where M: MessageOf<KindOf<T>, TiedTo<T>> {}

impl<DB, T, M> FromDelivery<DB, T> for Batch<M>
where
    DB: Backend,
    T: TableOn<DB> + Carries<M>,
    M: Lent + MessageOf<KindOf<T>, TiedTo<T>>,
{
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        cx.messages().map(Self)
    }
}

/// The rows, for a handler that takes `&[Row]`.
#[derive(Debug)]
pub struct Rows<R>(Vec<R>);

impl<R> Deref for Rows<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.0
    }
}

impl<T, R: IsRowOf<T>> Extractor<T> for Rows<R> {}

impl<DB: Backend, T: TableOn<DB>, R: IsRowOf<T>> FromDelivery<DB, T> for Rows<R> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        // `R` is `T`, so that this is the same list.
        cx.rows().map(|rows| Self(rows.into_iter().map(R::from_row).collect()))
    }
}

/// A subscriber whose handler takes a batch of rows.
#[diagnostic::on_unimplemented(
    message = "this subscriber takes one row a call, and no batches",
    label = "not a handler of batches",
    note = "take a slice, `messages: &[T]`, and write `batch = 100` in the attribute"
)]
pub trait TakesBatches {}
