//! A statement for each place where a claim can start.

use super::ClaimFrom;

/// A statement for each place where a claim can start.
#[derive(Debug, Clone)]
pub struct Starts<S> {
    /// At the beginning of the order.
    start: S,
    /// Past a watermark, where the database gains by it.
    watermark: Option<S>,
    /// Due retries only, where fresh rows could starve them.
    retries: Option<S>,
}

impl<S> Starts<S> {
    pub(super) fn new(statement: impl Fn(ClaimFrom) -> Option<S>) -> Option<Self> {
        Some(Self {
            start: statement(ClaimFrom::Start)?,
            watermark: statement(ClaimFrom::Watermark),
            retries: statement(ClaimFrom::Retries),
        })
    }

    /// The statement that starts there, if there is one.
    #[must_use]
    pub const fn get(&self, from: ClaimFrom) -> Option<&S> {
        match from {
            ClaimFrom::Start => Some(&self.start),
            ClaimFrom::Watermark => self.watermark.as_ref(),
            ClaimFrom::Retries => self.retries.as_ref(),
        }
    }

    /// The statement that starts there; the one from the beginning where there is no such.
    #[must_use]
    pub fn at(&self, from: ClaimFrom) -> &S {
        self.get(from).unwrap_or(&self.start)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &S> {
        ClaimFrom::ALL.into_iter().filter_map(|from| self.get(from))
    }
}
