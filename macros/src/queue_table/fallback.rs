//! What a wrong declaration expands to: inert impls, so that its one mistake does not become an
//! error at every subscriber and publisher that mentions the row.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Field, GenericParam, Generics, TypeParamBound, parse_quote};

use super::expand::constants;
use super::sqlx::Casing;

pub(crate) fn expand(input: &DeriveInput) -> TokenStream {
    let row = &input.ident;
    let generics = assumed(input);
    let (impl_generics, arguments, where_clause) = generics.split_for_impl();
    let markers = ["Grouped", "Ungrouped", "CountsAttempts", "Delays"]
        .map(|marker| format_ident!("{marker}"));
    let table_on = table_on(input);
    let constants = unmarked_fields(input);
    quote! {
        #[automatically_derived]
        impl #impl_generics ::queue_table::QueueTable for #row #arguments #where_clause {
            type Id = ::core::primitive::i64;
            type Payload = ::queue_table::__private::RowItself;
            const TABLE: ::queue_table::TableDescriptor =
                ::queue_table::TableDescriptor::invalid();
            fn reads_fields(&self) {}
        }
        #(
            #[automatically_derived]
            impl #impl_generics ::queue_table::__private::#markers
                for #row #arguments #where_clause {}
        )*
        #table_on
        #constants
    }
}

/// The generics of a struct that cannot have any, with what the traits ask of its parameters.
fn assumed(input: &DeriveInput) -> Generics {
    let mut generics = input.generics.clone();
    for param in &mut generics.params {
        match param {
            GenericParam::Type(param) => param.bounds.extend::<[TypeParamBound; 4]>([
                parse_quote!(::core::marker::Send),
                parse_quote!(::core::marker::Sync),
                parse_quote!(::core::marker::Unpin),
                parse_quote!('static),
            ]),
            GenericParam::Lifetime(param) => param.bounds.push(parse_quote!('static)),
            GenericParam::Const(_) => {}
        }
    }
    generics
}

fn table_on(input: &DeriveInput) -> TokenStream {
    let row = &input.ident;
    let (_, arguments, _) = input.generics.split_for_impl();
    let mut generics = assumed(input);
    generics.params.push(parse_quote!(__DB: ::queue_table::Backend));
    let row_of = parse_quote!(#row #arguments: ::queue_table::RowOf<__DB>);
    let id_on = parse_quote!(::core::primitive::i64: ::queue_table::IdOn<__DB>);
    generics.make_where_clause().predicates.extend::<[syn::WherePredicate; 2]>([row_of, id_on]);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::queue_table::TableOn<__DB> for #row #arguments #where_clause {}
    }
}

/// The constants of the fields without a role, because code that publishes names them.
fn unmarked_fields(input: &DeriveInput) -> TokenStream {
    let Data::Struct(data) = &input.data else {
        return TokenStream::new();
    };
    if !input.generics.params.is_empty() {
        return TokenStream::new();
    }
    let casing = Casing::read(&input.attrs);
    let is_marked = |field: &Field| field.attrs.iter().any(|attr| attr.path().is_ident("queue"));
    let unmarked = data.fields.iter().filter(|field| !is_marked(field));
    constants(
        &input.ident,
        unmarked.filter_map(|field| {
            let ident = field.ident.as_ref()?;
            Some((&field.vis, ident, &field.ty, casing.column(ident)))
        }),
    )
}
