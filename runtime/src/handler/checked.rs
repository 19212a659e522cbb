//! Types that stand for others: so that one mistake is one error, and so that a subscriber can be
//! more visible than what it takes.

use super::QueueTable;

/// `T`, once the checks that make the constant `PROOF` have compiled.
///
/// Where they have not, rustc knows neither the constant nor the type, and says no second word about
/// anything that mentions it: not in the declaration, and not where the subscriber is mounted.
pub type Checked<T, const PROOF: usize> = <Proof<PROOF> as Of<T>>::It;

/// What [`Checked`] looks at.
#[derive(Debug)]
pub struct Proof<const PROOF: usize>;

/// `T`, where `Self` is known.
pub trait Of<T> {
    /// `T`.
    type It;
}

impl<T, P> Of<T> for P {
    type It = T;
}

/// The proof that a type is a queue table, and one whose columns are right.
#[must_use]
pub const fn table<T: QueueTable>() -> usize {
    T::TABLE.checked()
}

/// `Self` by another name, under which a private type can stand in a public impl.
pub trait Is {
    /// `Self`.
    type It;
}

impl<T> Is for T {
    type It = T;
}
