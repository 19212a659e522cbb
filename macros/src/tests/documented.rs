//! The declarations in the documentation are right.

use proc_macro2::{TokenStream, TokenTree};

use crate::{queue_table, subscriber};

/// The code blocks of the public documentation.
fn documented() -> Vec<String> {
    let lines: Vec<&str> =
        include_str!("../lib.rs").lines().filter_map(|line| line.strip_prefix("///")).collect();
    let blocks = lines.split(|line| line.trim().starts_with("```"));
    blocks.skip(1).step_by(2).map(|block| block.join("\n")).collect()
}

/// Takes the attribute `name` from the front of a function.
fn without(name: &str, function: TokenStream) -> (TokenStream, TokenStream) {
    let mut tokens = function.into_iter().skip(1);
    let Some(TokenTree::Group(attribute)) = tokens.next() else {
        panic!("no attribute");
    };
    let mut inner = attribute.stream().into_iter();
    assert_eq!(inner.next().unwrap().to_string(), name);
    let Some(TokenTree::Group(arguments)) = inner.next() else {
        panic!("no arguments");
    };
    (arguments.stream(), tokens.collect())
}

#[test]
fn every_documented_declaration_is_right() {
    let blocks = documented();
    let (tables, subscribers): (Vec<_>, Vec<_>) =
        blocks.iter().partition(|block| block.contains("#[derive("));
    assert_eq!((tables.len(), subscribers.len()), (2, 2));
    for table in tables {
        let mistakes = queue_table::mistakes(table.parse().unwrap());
        assert!(mistakes.is_empty(), "{mistakes:?}");
    }
    for function in subscribers {
        let (arguments, function) = without("subscriber", function.parse().unwrap());
        let mistakes = subscriber::mistakes(arguments, &function);
        assert!(mistakes.is_empty(), "{mistakes:?}");
    }
}
