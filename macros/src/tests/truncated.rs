//! Half of a declaration is what an editor has most of the time: no prefix of a right one may
//! panic, and a function must never get lost.

use proc_macro2::{Group, TokenStream, TokenTree};

use super::expansion::{EMAIL_JOB, EVERY_ARGUMENT, EVERY_KEY, EVERYTHING};
use crate::{queue_table, subscriber};

/// Every prefix, token by token; a bracket that is cut off is closed, as rustc would.
fn prefixes(tokens: TokenStream) -> Vec<TokenStream> {
    let mut before = TokenStream::new();
    let mut prefixes = vec![before.clone()];
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            for inner in prefixes_within(group) {
                let mut prefix = before.clone();
                prefix.extend([inner]);
                prefixes.push(prefix);
            }
        }
        before.extend([token]);
        prefixes.push(before.clone());
    }
    prefixes
}

fn prefixes_within(group: &Group) -> impl Iterator<Item = TokenTree> {
    let delimiter = group.delimiter();
    prefixes(group.stream()).into_iter().map(move |inner| Group::new(delimiter, inner).into())
}

#[test]
fn no_prefix_of_a_table_panics() {
    for declaration in [EMAIL_JOB, EVERYTHING] {
        for prefix in prefixes(declaration.parse().unwrap()) {
            queue_table::derive(prefix);
        }
    }
}

#[test]
fn no_prefix_of_a_subscriber_loses_the_function() {
    let function: TokenStream = EVERY_ARGUMENT.parse().unwrap();
    let arguments: TokenStream = EVERY_KEY.parse().unwrap();
    let whole = body(&function);
    for prefix in prefixes(arguments.clone()) {
        let expansion = subscriber::attribute(prefix, &function);
        assert!(text(&expansion).contains(&whole));
    }
    for prefix in prefixes(function) {
        let expansion = subscriber::attribute(arguments.clone(), &prefix);
        assert!(text(&expansion).contains(&body(&prefix)));
    }
}

/// What must be left of a function: its signature and body, behind its attributes.
fn body(function: &TokenStream) -> String {
    let tokens = function.clone().into_iter();
    let is_async = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "async");
    text(&tokens.skip_while(|token| !is_async(token)).collect())
}

/// Without spaces, because how tokens are spaced depends on where they come from.
fn text(tokens: &TokenStream) -> String {
    tokens.to_string().split_whitespace().collect()
}
