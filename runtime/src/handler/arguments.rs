//! The arguments of a handler, all together.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{
    Carries, Cx, Extractor, FromDelivery, KindOf, MessageOf, Needs, Outcome, TableOn, TiedTo,
};
use crate::backend::Backend;

/// The message, for a handler that takes `&M`.
#[derive(Debug)]
pub struct Decoded<M>(M);

impl<M> Deref for Decoded<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}

impl<T: Carries<M>, M: Lent> Extractor<T> for Decoded<M> where M: MessageOf<KindOf<T>, TiedTo<T>> {}

impl<DB, T, M> FromDelivery<DB, T> for Decoded<M>
where
    DB: Backend,
    T: TableOn<DB> + Carries<M>,
    M: Lent + MessageOf<KindOf<T>, TiedTo<T>>,
{
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        cx.message().map(Self)
    }
}

/// A message that a handler can be lent, on whatever thread it runs.
#[diagnostic::on_unimplemented(
    message = "a message of type `{Self}` cannot go to another thread",
    label = "not `Send` and `Sync`",
    note = "handlers run on every thread of the runtime: use `Arc` for `Rc`, and `Mutex` for `RefCell`"
)]
pub trait Lent: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<M: Send + Sync + 'static> Lent for M {}

/// The row, for a handler that takes `&Row`.
#[derive(Debug)]
pub struct Whole<R>(R);

impl<R> Deref for Whole<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.0
    }
}

impl<T, R: IsRowOf<T>> Extractor<T> for Whole<R> {}

impl<DB: Backend, T: TableOn<DB>, R: IsRowOf<T>> FromDelivery<DB, T> for Whole<R> {
    fn from_delivery(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
        cx.row().map(R::from_row).map(Self)
    }
}

/// The type that a subscriber of `T` means by its row: `T` itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is called like the row of this subscriber, and is another type",
    label = "not its row",
    note = "the row is `{T}`; a message of this type needs another name: `use .. as ..`"
)]
pub trait IsRowOf<T>: Send {
    /// The same row.
    fn from_row(row: T) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Send> IsRowOf<T> for T {
    fn from_row(row: T) -> Self {
        row
    }
}

/// All arguments of a handler, as a tuple.
pub trait Arguments<DB: Backend, T: TableOn<DB>>: Sized {
    /// Takes them one after the other; the error is what happens to a row from which one of them
    /// cannot be taken.
    ///
    /// # Errors
    /// The outcome of such a row.
    fn take(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome>;

    /// Names what the service must have for them.
    fn needs(needs: &mut Needs);
}

/// The check of a handler's arguments against the table `T`: one call for all of them, with a type
/// parameter for each, so that rustc names and underlines the one that is wrong.
#[derive(Debug)]
pub struct Signature<T>(PhantomData<fn() -> T>);

// Written out, because rustc would point into a macro and at its call.
#[allow(missing_docs, reason = "each takes that many arguments")]
impl<T> Signature<T> {
    pub fn of0(self) {}
    pub fn of1(self, _: impl Extractor<T>) {}
    pub fn of2(self, _: impl Extractor<T>, _: impl Extractor<T>) {}
    pub fn of3(self, _: impl Extractor<T>, _: impl Extractor<T>, _: impl Extractor<T>) {}
    pub fn of4(
        self,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
    ) {
    }
    pub fn of5(
        self,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
    ) {
    }
    pub fn of6(
        self,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
    ) {
    }
}

#[allow(missing_docs, reason = "each takes that many arguments")]
#[allow(clippy::too_many_arguments, reason = "as many as a handler can have")]
impl<T> Signature<T> {
    pub fn of7(
        self,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
    ) {
    }
    pub fn of8(
        self,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
    ) {
    }
    pub fn of9(
        self,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
        _: impl Extractor<T>,
    ) {
    }
}

macro_rules! arguments {
    ($(($($argument:ident),*))*) => { $(
        #[allow(unused_variables, reason = "none are taken from nothing")]
        impl<DB, T, $($argument),*> Arguments<DB, T> for ($($argument,)*)
        where
            DB: Backend,
            T: TableOn<DB>,
            $($argument: FromDelivery<DB, T>,)*
        {
            fn take(cx: &mut Cx<'_, DB, T>) -> Result<Self, Outcome> {
                Ok(($($argument::from_delivery(cx)?,)*))
            }

            fn needs(needs: &mut Needs) {
                $(<$argument as Extractor<T>>::needs(needs);)*
            }
        }
    )* };
}

arguments! {
    () (A0) (A0, A1) (A0, A1, A2) (A0, A1, A2, A3) (A0, A1, A2, A3, A4) (A0, A1, A2, A3, A4, A5)
    (A0, A1, A2, A3, A4, A5, A6) (A0, A1, A2, A3, A4, A5, A6, A7)
    (A0, A1, A2, A3, A4, A5, A6, A7, A8)
}
