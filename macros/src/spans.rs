//! Where generated tokens stand: rustc underlines what is between the first and the last token of
//! what it finds wrong.

use proc_macro2::{Ident, Span};
use quote::ToTokens;

/// Generated, but standing at something of the user's.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// Standing at something of the user's as if it were written there, beside the function `name`:
/// then rustc does not point at the attribute too. Not for paths, which lints look at.
pub(crate) fn beside(name: &Ident, span: Span) -> Span {
    name.span().located_at(span)
}

/// The first and the last token.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut tokens = tokens.to_token_stream().into_iter();
    let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
    let last = tokens.last().map_or(first, |token| token.span());
    (first, last)
}
