//! What a wrong declaration expands to: inert impls, so that its one mistake does not become an
//! error at every subscriber and publisher that mentions the row. What the declaration probably
//! means is guessed where they depend on it.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Field, GenericParam, Generics, Meta, TypeParamBound, parse_quote,
};

use super::model::constant;
use super::vocabulary::ROLES;
use crate::keys::{Entry, split};

pub(crate) fn expand(input: &DeriveInput) -> TokenStream {
    let row = &input.ident;
    let generics = assumed(input);
    let (impl_generics, arguments, where_clause) = generics.split_for_impl();
    let markers = ["Grouped", "Ungrouped", "CountsAttempts", "Delays", "Leased"]
        .map(|marker| format_ident!("{marker}"));
    let table_on = table_on(input);
    let constants = unmarked_fields(input);
    let id = id(input);
    let payload =
        meant_as(input, "payload").unwrap_or_else(|| quote!(::queue_table::__private::RowItself));
    quote! {
        #[automatically_derived]
        impl #impl_generics ::queue_table::QueueTable for #row #arguments #where_clause {
            type Id = #id;
            type Payload = #payload;
            const TABLE: ::queue_table::TableDescriptor =
                ::queue_table::TableDescriptor::invalid();
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

fn id(input: &DeriveInput) -> TokenStream {
    meant_as(input, "id").unwrap_or_else(|| quote!(::core::primitive::i64))
}

/// The type of the first field that was probably meant to have this role.
fn meant_as(input: &DeriveInput, role: &str) -> Option<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return None;
    };
    let is_meant = |attr: &Attribute| match &attr.meta {
        Meta::List(list) if list.path.is_ident("queue") => split(list.tokens.clone())
            .into_iter()
            .filter_map(|part| Entry::read(part).ok())
            .any(|entry| ROLES.meant(&entry.key.to_string()) == Some(role)),
        _ => false,
    };
    let field = data.fields.iter().find(|field| field.attrs.iter().any(is_meant))?;
    Some(field.ty.to_token_stream())
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
    let id = id(input);
    let id_on = parse_quote!(#id: ::queue_table::IdOn<__DB>);
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
    let row = &input.ident;
    let is_marked = |field: &&Field| field.attrs.iter().any(|attr| attr.path().is_ident("queue"));
    let mut seen = Vec::new();
    let unmarked = data.fields.iter().filter(|field| !is_marked(field));
    let constants = unmarked.filter_map(|field| {
        let Field { vis, ty, .. } = field;
        let constant = constant(field.ident.as_ref()?);
        // Two constants of one name are the mistake itself.
        let is_new = !seen.contains(&constant);
        seen.push(constant.clone());
        is_new.then(|| {
            quote! {
                #vis const #constant: ::queue_table::Field<Self, #ty> =
                    ::queue_table::Field::new("");
            }
        })
    });
    quote! {
        #[automatically_derived]
        #[allow(dead_code, missing_docs)]
        impl #row {
            #(#constants)*
        }
    }
}
