//! Writes the attribute's settings as a constant whose steps rustc checks against the table and the
//! handler's arguments, without a database.
//!
//! Each step stands at what the user has to change, so that rustc underlines that; the steps' names
//! are part of what it prints.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Index, LitInt, Type};

use super::attr::{DeadLetter, DecodeFailure, Given, Settings};
use super::signature::{Argument, Handler, last_word};
use crate::diagnostics::Errors;
use crate::spans::{beside, ends};

/// Checks say nothing of use after a mistake, and then are not made.
pub(crate) fn declaration(
    function: &Ident,
    row: &Type,
    settings: &Settings,
    handler: &Handler,
    errors: &Errors,
) -> TokenStream {
    let name = function.unraw().to_string();
    if !errors.is_empty() {
        return quote!({ #errors __q::Declaration::new(#name) });
    }
    let group = group(function, row, settings);
    let steps = steps(function, settings, handler);
    let args = args(function, handler);
    quote!(__q::of::<Self>(#name).#group #(.#steps)*.#args)
}

/// The step that says whose rows they are.
fn group(function: &Ident, row: &Type, settings: &Settings) -> TokenStream {
    match &settings.group {
        Some(group) => {
            let proof = proof("grouped", function, group.key.span());
            let group = group.value();
            quote!(group(#group, #proof))
        }
        None => {
            let row = last_word(row).map_or_else(|| row.span(), Ident::span);
            let proof = proof("ungrouped", function, row);
            quote!(all_rows(#proof))
        }
    }
}

/// An argument that compiles if the table fits the step.
fn proof(name: &str, function: &Ident, at: Span) -> TokenStream {
    let at = beside(function, at);
    let name = Ident::new(name, at);
    quote_spanned!(at=> __q::#name())
}

fn steps(function: &Ident, settings: &Settings, handler: &Handler) -> Vec<TokenStream> {
    let mut steps = Vec::new();
    if let Some(workers) = value(&settings.workers) {
        let workers = number(*workers);
        steps.push(quote!(workers(#workers)));
    }
    if let Some(rows) = value(&settings.batch) {
        let rows = number(*rows);
        steps.push(quote!(batch(#rows)));
    }
    if let (Some(lease), Some(duration)) = (&settings.lease, value(&settings.lease)) {
        let proof = proof("leased", function, lease.key.span());
        let milliseconds = milliseconds(*duration);
        steps.push(quote!(lease(#milliseconds, #proof)));
    }
    let durations = [("poll_interval", &settings.poll_interval), ("timeout", &settings.timeout)];
    for (key, given) in durations {
        if let Some(duration) = value(given) {
            let (key, milliseconds) = (format_ident!("{key}"), milliseconds(*duration));
            steps.push(quote!(#key(#milliseconds)));
        }
    }
    if let (Some(cap), Some(dead_letter)) = (&settings.max_attempts, value(&settings.dead_letter)) {
        let proof = proof("counted", function, cap.key.span());
        let attempts = cap.value().copied().map(number);
        let dead_letter = match dead_letter {
            DeadLetter::Group(group) => quote!(__q::in_group(#group)),
            DeadLetter::Table(table) => quote!(__q::in_table::<#table, _>()),
        };
        steps.push(quote!(max_attempts(#attempts, #dead_letter, #proof)));
    }
    if let Some(answer) = value(&settings.on_decode_failure) {
        let answer = decode_failure(answer);
        steps.push(quote!(on_decode_failure(__q::#answer)));
    }
    if settings.on_error.is_none() && handler.returns_a_result() {
        steps.push(quote!(can_fail()));
    }
    steps
}

/// The last step: each argument is passed by an expression that stands at its type.
fn args(function: &Ident, handler: &Handler) -> TokenStream {
    let of = format_ident!("of{}", handler.arguments.len(), span = function.span());
    let arguments = handler.arguments.iter().enumerate().map(|(index, argument)| {
        let (first, last) = match argument {
            Argument::Message(ty)
            | Argument::Row(ty)
            | Argument::Batch(ty)
            | Argument::Rows(ty) => {
                let span = last_word(ty).map_or_else(|| ty.span(), Ident::span);
                (span, span)
            }
            Argument::Extractor(ty) => ends(ty),
        };
        let (first, last) = (beside(function, first), beside(function, last));
        let all = Ident::new("a_", first);
        let mut index = Index::from(index);
        index.span = last;
        quote_spanned!(last=> #all.#index)
    });
    let all = match handler.arguments.is_empty() {
        true => quote!(_),
        false => Ident::new("a_", function.span()).into_token_stream(),
    };
    quote!(args(|s_, #all| s_.#of(#(#arguments),*)))
}

fn value<T>(given: &Option<Given<T>>) -> Option<&T> {
    given.as_ref().and_then(Given::value)
}

fn decode_failure(answer: &DecodeFailure) -> TokenStream {
    match answer {
        DecodeFailure::Drop => quote!(DecodeFailure::Drop),
        DecodeFailure::Retry => quote!(DecodeFailure::Retry),
        DecodeFailure::RetryAfter(after) => {
            let after = milliseconds(*after);
            quote!(retry_after(#after))
        }
        DecodeFailure::DeadLetter(_) => quote!(DecodeFailure::DeadLetter),
    }
}

fn milliseconds(duration: Duration) -> LitInt {
    number(duration.as_millis())
}

fn number(number: impl std::fmt::Display) -> LitInt {
    LitInt::new(&number.to_string(), Span::call_site())
}
