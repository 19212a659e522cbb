//! Writes what the runtime needs to know of a table: a constant, and the types of its columns.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Type, Visibility};

use super::model::{self, Column, Table};

pub(crate) fn expand(table: &Table) -> TokenStream {
    let queue_table = queue_table(table);
    let markers = markers(table);
    let table_on = table_on(table);
    let data = table.columns.iter().filter(|column| column.role.is_none());
    let constants = constants(
        &table.row,
        data.map(|column| (&column.vis, &column.field, &column.ty, column.name.clone())),
    );
    quote!(#queue_table #markers #table_on #constants)
}

fn queue_table(table: &Table) -> TokenStream {
    let row = &table.row;
    let name = &table.place.name;
    let schema = table.place.schema.as_ref().map(|schema| quote!(.schema(#schema)));
    let id = table.column("id").map(|column| &column.ty);
    let payload = match table.column("payload") {
        Some(column) => column.ty.to_token_stream(),
        None => quote!(::queue_table::__private::RowItself),
    };
    let columns = table.columns.iter().map(described);
    let fields = table.columns.iter().map(|column| &column.field);
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::queue_table::QueueTable for #row {
            type Id = #id;
            type Payload = #payload;
            const TABLE: ::queue_table::TableDescriptor =
                ::queue_table::TableDescriptor::new(#name, &[#(#columns),*]) #schema;
            fn reads_fields(&self) {
                let _ = (#(&self.#fields,)*);
            }
        }
    }
}

/// The column's type stands in a turbofish, so that rustc underlines it in the struct when it does
/// not fit the role.
fn described(column: &Column) -> TokenStream {
    let Column { ty, name, role, .. } = column;
    let word = role.as_ref().map_or_else(|| "data".to_owned(), ToString::to_string);
    let role = format_ident!("{word}");
    quote!(::queue_table::Column::#role::<#ty>(#name))
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
    let markers = [Some(grouped), attempt, delays].into_iter().flatten();
    quote! {
        #(
            #[automatically_derived]
            impl ::queue_table::__private::#markers for #row {}
        )*
    }
}

fn table_on(table: &Table) -> TokenStream {
    let row = &table.row;
    let row_of = bound(row, &quote!(RowOf));
    let id = table.column("id").map(|column| bound(&column.ty, &quote!(IdOn)));
    let others = distinct(table.columns.iter().filter(|column| !column.is("id")))
        .into_iter()
        .map(|ty| bound(ty, &quote!(Col)));
    quote! {
        #[automatically_derived]
        impl<__DB: ::queue_table::Backend> ::queue_table::TableOn<__DB> for #row
        where
            #row_of,
            #id,
            #(#others,)*
        {}
    }
}

/// A bound whose tokens all stand at its type, because rustc underlines a bound as a whole.
fn bound(ty: &impl ToTokens, name: &TokenStream) -> TokenStream {
    let at = Span::call_site().located_at(ty.span());
    quote_spanned!(at=> #ty: ::queue_table::#name<__DB>)
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
pub(crate) fn constants<'a>(
    row: &Ident,
    columns: impl Iterator<Item = (&'a Visibility, &'a Ident, &'a Type, String)>,
) -> TokenStream {
    let constants: Vec<TokenStream> = columns
        .map(|(vis, field, ty, name)| {
            let doc = format!(" The data column `{name}`, for publishing.");
            let constant = model::constant(field);
            quote! {
                #[doc = #doc]
                #vis const #constant: ::queue_table::Field<#row, #ty> =
                    ::queue_table::Field::new(#name);
            }
        })
        .collect();
    if constants.is_empty() {
        return TokenStream::new();
    }
    quote! {
        #[automatically_derived]
        #[allow(dead_code)]
        impl #row {
            #(#constants)*
        }
    }
}
