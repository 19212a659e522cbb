//! Writes what the runtime needs to know of a table: a constant, and the types of its columns.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Index, Type};

use super::model::{self, Column, Table};

pub(crate) fn expand(table: &Table) -> TokenStream {
    let queue_table = queue_table(table);
    let markers = markers(table);
    let table_on = table_on(table);
    let constants = constants(table);
    quote! {
        const _: () = {
            use ::queue_table::__private as __q;
            #queue_table
            #markers
            #table_on
            #constants
        };
    }
}

/// After a mistake in a column's type the types that others ask for are types that rustc does not
/// know, and says no second word about.
fn queue_table(table: &Table) -> TokenStream {
    let row = &table.row;
    let name = &table.place.name;
    let columns = table.columns.iter().map(described);
    let place = match &table.place.schema {
        Some(schema) => quote!(of_schema(#schema, #name, &[#(#columns),*])),
        None => quote!(new(#name, &[#(#columns),*])),
    };
    let id = table.column("id").map(|column| &column.ty);
    let payload = match table.column("payload") {
        Some(column) => {
            let ty = &column.ty;
            let tied = column.message.as_ref().map(|message| quote!(__q::Tied<#ty, #message>));
            let ty = tied.unwrap_or_else(|| ty.to_token_stream());
            quote!(__q::Checked<#ty, { __q::table::<Self>() }>)
        }
        None => quote!(__q::RowItself),
    };
    quote! {
        const __C: __q::Columns<#row> = __q::Columns::OF;
        #[automatically_derived]
        #[allow(deprecated)]
        impl __q::QueueTable for #row {
            type Id = __q::Checked<#id, { __q::table::<Self>() }>;
            type Payload = #payload;
            const TABLE: __q::TableDescriptor = __q::TableDescriptor::#place;
        }
    }
}

/// A column with the access to its field. One with a role is a call of the user's own word with the
/// user's own type, so that rustc underlines the type in the struct when it does not fit the role.
fn described(column: &Column) -> TokenStream {
    let Column { field, ty, name, role, .. } = column;
    match role.as_ref().map(|role| Ident::new(&role.to_string(), role.span())) {
        Some(role) => quote!(__C.#role::<#ty>(#name, |_r| &_r.#field)),
        None => quote!(__C.data(#name, |_r| &_r.#field)),
    }
}

/// Facts for the checks that relate a subscriber to its table.
fn markers(table: &Table) -> TokenStream {
    let row = &table.row;
    let grouped = match table.column("group") {
        Some(_) => format_ident!("Grouped"),
        None => format_ident!("Ungrouped"),
    };
    let attempt = table.column("attempt").map(|_| format_ident!("CountsAttempts"));
    let delays = table.column("retry_after").map(|_| format_ident!("Delays"));
    let leased = table.column("locked_until").map(|_| format_ident!("Leased"));
    let markers = [Some(grouped), attempt, delays, leased].into_iter().flatten();
    quote! {
        #(
            #[automatically_derived]
            impl __q::#markers for #row {}
        )*
    }
}

fn table_on(table: &Table) -> TokenStream {
    let row = &table.row;
    let row_of = bound(row, &quote!(RowOf));
    let id = table.column("id").map(|column| {
        let at = Span::call_site().located_at(column.ty.span());
        quote_spanned!(at=> <Self as __q::QueueTable>::Id: __q::IdOn<__DB>)
    });
    // First, because rustc reports the first that does not hold.
    let locks = table.column("locked_until").is_none().then(|| {
        let at = Span::call_site().located_at(row.span());
        quote_spanned!(at=> __DB: __q::LocksRows<#row>,)
    });
    let times = distinct(table.columns.iter().filter(|column| column.is_a_time()));
    let others =
        distinct(table.columns.iter().filter(|column| !column.is("id"))).into_iter().map(|ty| {
            match times.contains(&ty) {
                true => bound(ty, &quote!(TimeOn)),
                false => bound(ty, &quote!(Col)),
            }
        });
    quote! {
        #[automatically_derived]
        impl<__DB: __q::Backend> __q::TableOn<__DB> for #row
        where
            #locks
            #row_of,
            #id,
            #(#others,)*
        {}
    }
}

/// A bound whose tokens all stand at its type, because rustc underlines a bound as a whole.
fn bound(ty: &impl ToTokens, name: &TokenStream) -> TokenStream {
    let at = Span::call_site().located_at(ty.span());
    quote_spanned!(at=> #ty: __q::#name<__DB>)
}

/// Each type once, because rustc reports each bound.
fn distinct<'a>(columns: impl Iterator<Item = &'a Column>) -> Vec<&'a Type> {
    let mut types: Vec<&Type> = Vec::new();
    for column in columns {
        if !types.contains(&&column.ty) {
            types.push(&column.ty);
        }
    }
    types
}

/// A constant for each data column, which names it when a message is published.
fn constants(table: &Table) -> TokenStream {
    let row = &table.row;
    let data = table.columns.iter().enumerate().filter(|(_, column)| column.role.is_none());
    let constants: Vec<TokenStream> = data
        .map(|(at, Column { vis, field, ty, .. })| {
            let (constant, at) = (model::constant(field), Index::from(at));
            quote!(#vis const #constant: __q::Field<Self, #ty> = __q::at(#at);)
        })
        .collect();
    if constants.is_empty() {
        return TokenStream::new();
    }
    quote! {
        /// The data columns, for publishing.
        #[automatically_derived]
        #[allow(dead_code, missing_docs)]
        impl #row {
            #(#constants)*
        }
    }
}
