//! The checks that need to know the table, the extractors and the outcome: rustc makes them,
//! without a database.
//!
//! Each is a call whose tokens stand at what the user has to change, so that rustc underlines that;
//! the names of the called functions are part of what it prints.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

use super::attr::Settings;
use super::signature::{Handler, last_word};

pub(crate) fn checks(row: &Type, settings: &Settings, handler: &Handler) -> TokenStream {
    let cap = settings.max_attempts.as_ref().map(|cap| {
        let call = at_key("a_column_that_counts_attempts", row, &cap.key);
        quote! {
            fn a_column_that_counts_attempts<T: ::queue_table::__private::CountsAttempts>() {}
            #call
        }
    });
    let group = match &settings.group {
        Some(group) => {
            let call = at_key("a_group_column", row, &group.key);
            quote! {
                fn a_group_column<T: ::queue_table::__private::Grouped>() {}
                #call
            }
        }
        None => quote! {
            fn no_group_column<T: ::queue_table::__private::Ungrouped>() {}
            no_group_column::<#row>();
        },
    };
    let payload = handler.message().map(|message| {
        let at = last_word(message).map_or_else(Span::call_site, Ident::span);
        let row = respanned(row.to_token_stream(), at);
        quote! {
            fn a_payload<T: ::queue_table::__private::Carries<M>, M>() {}
            a_payload::<#row, #message>();
        }
    });
    let extractors = extractors(handler);
    let outcome = match (&handler.output, &settings.on_error) {
        (Some(output), None) if !is_unnameable(output) => quote! {
            fn an_outcome<T: ::queue_table::IntoOutcome>() {}
            an_outcome::<#output>();
        },
        _ => TokenStream::new(),
    };
    quote! {
        const _: fn() = || {
            #cap
            #group
            #payload
            #extractors
            #outcome
        };
    }
}

fn extractors(handler: &Handler) -> Option<TokenStream> {
    let extractors: Vec<&Type> = handler.extractors().collect();
    if extractors.is_empty() {
        return None;
    }
    Some(quote! {
        fn an_extractor<T: ::queue_table::Extractor>() {}
        #(an_extractor::<#extractors>();)*
    })
}

/// Whether a type has an `impl Trait` in it, which only a signature can have.
fn is_unnameable(ty: &Type) -> bool {
    fn has_impl(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(word) => word == "impl",
            TokenTree::Group(group) => has_impl(group.stream()),
            _ => false,
        })
    }
    has_impl(ty.to_token_stream())
}

fn at_key(function: &str, row: &Type, key: &Ident) -> TokenStream {
    let at = Span::call_site().located_at(key.span());
    let function = Ident::new(function, at);
    let row = respanned(row.to_token_stream(), key.span());
    quote_spanned!(at=> #function::<#row>();)
}

/// The same tokens, standing somewhere else.
fn respanned(tokens: TokenStream, at: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), respanned(group.stream(), at)).into();
        }
        token.set_span(token.span().located_at(at));
        token
    });
    respanned.collect()
}
