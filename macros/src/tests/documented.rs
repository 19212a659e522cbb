//! The declarations in the documentation are right.

use proc_macro2::{TokenStream, TokenTree};

use crate::{queue_table, subscriber};

const MOUNT: &str = include_str!("../../../runtime/src/handler/mount.rs");

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

/// The names of the methods whose lines begin like this, besides those that set nothing.
fn methods(begin: &str) -> Vec<&'static str> {
    let lines = MOUNT.lines().filter_map(|line| line.strip_prefix(begin));
    let names = lines.filter_map(|line| line.split(['(', '<']).next());
    let mut names: Vec<_> = names
        .filter(|name| !["mounted", "fmt", "with", "marked", "declared"].contains(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Except `on_error`: the types of its function are those of the handler.
#[test]
fn every_key_of_a_subscriber_can_be_set_at_the_mount() {
    let mut keys: Vec<_> = subscriber::KEYS
        .known
        .iter()
        .flat_map(|key| match *key {
            "on_error" => vec![],
            "dead_letter" => vec!["dead_letter_group", "dead_letter_table"],
            key => vec![key],
        })
        .collect();
    keys.sort_unstable();
    assert_eq!(methods("    pub fn "), keys);
    assert_eq!(methods("    fn "), keys);
}
