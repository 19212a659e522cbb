//! What the macros write and what they say, on every toolchain. What rustc makes of it is in the
//! package `ui-tests`.

mod batch_messages;
mod budget;
mod documented;
mod expansion;
mod subscriber_messages;
mod table_messages;
mod truncated;

use proc_macro2::TokenStream;

use crate::{queue_table, subscriber};

/// An expansion as a reader would like to see it.
fn formatted(expansion: TokenStream) -> String {
    let file = syn::parse2(expansion).unwrap();
    prettyplease::unparse(&file)
}

fn table(declaration: &str) -> String {
    formatted(queue_table::derive(declaration.parse().unwrap()))
}

fn handler(arguments: &str, function: &str) -> String {
    let item = function.parse().unwrap();
    formatted(subscriber::attribute(arguments.parse().unwrap(), &item))
}
