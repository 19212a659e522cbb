//! The checks that need to know the table: rustc makes them, without a database. What the handler
//! takes and returns is checked where it is called.
//!
//! Each check is a call whose tokens stand at what the user has to change, so that rustc underlines that;
//! the names of the called functions are part of what it prints.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

use super::attr::Settings;

pub(crate) fn checks(row: &Type, settings: &Settings) -> TokenStream {
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
    quote! {
        const _: fn() = || {
            #cap
            #group
        };
    }
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
