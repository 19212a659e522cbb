//! `derive(QueueTable)`: attributes are read (`attr`, `sqlx`), become a table (`model`) that obeys
//! the rules (`check`), and only then tokens (`expand`, or `fallback` after a mistake).

mod attr;
mod check;
mod expand;
mod fallback;
mod model;
mod sqlx;
mod vocabulary;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::diagnostics::Errors;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    match model::Table::read(&input, &mut errors) {
        Ok(table) if errors.is_empty() => expand::expand(&table),
        _ => {
            let fallback = fallback::expand(&input);
            quote!(#fallback #errors)
        }
    }
}

/// The mistakes of a declaration as text.
#[cfg(test)]
pub(crate) fn mistakes(input: TokenStream) -> Vec<String> {
    let input: DeriveInput = syn::parse2(input).unwrap();
    let mut errors = Errors::default();
    let _ = model::Table::read(&input, &mut errors);
    errors.lines()
}
