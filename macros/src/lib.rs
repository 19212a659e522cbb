//! The derive and the attribute of `queue-table`, which re-exports and documents them.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod diagnostics;
mod keys;
mod queue_table;
mod subscriber;
#[cfg(test)]
mod tests;
mod values;

use proc_macro::TokenStream;

/// Declares that a struct is a row of a queue table.
#[proc_macro_derive(QueueTable, attributes(queue_table, queue))]
pub fn derive_queue_table(input: TokenStream) -> TokenStream {
    queue_table::derive(input.into()).into()
}

/// Makes a subscriber of an `async fn`.
#[proc_macro_attribute]
pub fn subscriber(arguments: TokenStream, item: TokenStream) -> TokenStream {
    subscriber::attribute(arguments.into(), &item.into()).into()
}
