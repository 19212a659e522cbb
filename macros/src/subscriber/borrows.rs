//! Finds lifetimes that a type leaves to be guessed: where an argument outlives the signature that
//! it stands in, there is nothing to guess from.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// The tokens of the first elided lifetime: `'_`, or a `&` without one.
pub(crate) fn elided(ty: &Type) -> Option<TokenStream> {
    in_tokens(ty.to_token_stream())
}

fn in_tokens(tokens: TokenStream) -> Option<TokenStream> {
    let mut tokens = tokens.into_iter().peekable();
    let mut after_fn = false;
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Group(group) if !after_fn => {
                if let Some(found) = in_tokens(group.stream()) {
                    return Some(found);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let name = tokens.next();
                if matches!(&name, Some(TokenTree::Ident(name)) if name == "_") {
                    return Some([Some(token), name].into_iter().flatten().collect());
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let named = matches!(
                    tokens.peek(),
                    Some(TokenTree::Punct(next)) if next.as_char() == '\''
                );
                if !named {
                    return Some([token].into_iter().collect());
                }
            }
            _ => {}
        }
        // In `fn(&T)` and `Fn(&T)` an elided lifetime means "any", which needs no name.
        after_fn = matches!(
            &token,
            TokenTree::Ident(word) if ["fn", "Fn", "FnMut", "FnOnce"].contains(&word.to_string().as_str())
        );
    }
    None
}
