//! A declaration that was read: the table, its columns, their roles.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Field, Fields, FieldsNamed, LitStr, Type, Visibility};

use super::attr::{self, Place, TableKeys};
use super::check::{self, Draft};
use super::sqlx::{Casing, SqlxField};
use crate::diagnostics::{Errors, Message, Reported};

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) row: Ident,
    pub(crate) place: Place,
    pub(crate) columns: Vec<Column>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) vis: Visibility,
    pub(crate) field: Ident,
    pub(crate) ty: Type,
    pub(crate) name: String,
    /// The `#[sqlx(rename = "..")]` that the name comes from.
    pub(crate) rename: Option<LitStr>,
    /// The role's word as it stands in the declaration; none for a data column.
    pub(crate) role: Option<Ident>,
    /// The type of the messages that a payload is tied to.
    pub(crate) message: Option<Type>,
}

impl Table {
    pub(crate) fn read(input: &DeriveInput, errors: &mut Errors) -> Result<Self, Reported> {
        let fields = named_fields(input, errors);
        check::a_table_is_not_generic(input, errors);
        let keys = TableKeys::read(input, errors);
        let keys_were_read = keys.is_ok();
        let place = keys.and_then(|keys| keys.place(&input.ident, errors));
        let casing = Casing::read(&input.attrs);
        let read: Vec<_> =
            fields?.named.iter().map(|field| Column::read(field, casing, errors)).collect();
        let fields_were_read = read.iter().all(Result::is_ok);
        let columns: Vec<Column> = read.into_iter().flatten().flatten().collect();
        let draft =
            Draft { row: &input.ident, columns: &columns, keys_were_read, fields_were_read };
        check::check(&draft, errors);
        Ok(Self { row: input.ident.clone(), place: place?, columns })
    }

    pub(crate) fn column(&self, role: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.is(role))
    }
}

impl Column {
    /// Reads a field; none if sqlx skips it, because then the table has no such column.
    fn read(field: &Field, casing: Casing, errors: &mut Errors) -> Result<Option<Self>, Reported> {
        let Some(ident) = &field.ident else {
            return Ok(None);
        };
        let sqlx = SqlxField::read(field, errors);
        let role = attr::role(field, sqlx.as_ref().unwrap_or(&SqlxField::default()), errors);
        let (sqlx, role) = (sqlx?, role?);
        let (role, message) = role.map(|role| (role.word, role.message)).unzip();
        if sqlx.skip {
            return Ok(None);
        }
        let name = match &sqlx.rename {
            Some(name) => name.value(),
            None => casing.column(ident),
        };
        Ok(Some(Self {
            vis: field.vis.clone(),
            field: ident.clone(),
            ty: field.ty.clone(),
            name,
            rename: sqlx.rename,
            role,
            message: message.flatten(),
        }))
    }

    pub(crate) fn is(&self, role: &str) -> bool {
        self.role.as_ref().is_some_and(|word| word == role)
    }

    pub(crate) fn is_a_time(&self) -> bool {
        ["retry_after", "locked_until", "processed_at"].iter().any(|role| self.is(role))
    }

    /// The smallest token that gives the column its name.
    pub(crate) fn name_tokens(&self) -> TokenStream {
        match &self.rename {
            Some(name) => name.to_token_stream(),
            None => self.field.to_token_stream(),
        }
    }
}

/// The name of the constant that stands for a data column: `account_id` is `ACCOUNT_ID`.
pub(crate) fn constant(field: &Ident) -> Ident {
    let mut name = String::new();
    let mut after_lower = false;
    for letter in field.unraw().to_string().chars() {
        if after_lower && letter.is_uppercase() {
            name.push('_');
        }
        after_lower = letter.is_lowercase();
        name.extend(letter.to_uppercase());
    }
    // The capitals of a few letters cannot stand in a name; the field's own name then serves.
    match syn::parse_str::<Ident>(&name) {
        Ok(_) => format_ident!("{name}", span = field.span()),
        Err(_) => field.clone(),
    }
}

fn named_fields<'a>(
    input: &'a DeriveInput,
    errors: &mut Errors,
) -> Result<&'a FieldsNamed, Reported> {
    let keyword = match &input.data {
        Data::Struct(data) => {
            let at = match &data.fields {
                Fields::Named(fields) => return Ok(fields),
                Fields::Unnamed(fields) => fields.to_token_stream(),
                Fields::Unit => input.ident.to_token_stream(),
            };
            let message =
                Message::new("a queue table needs named fields, because fields are columns")
                    .help(example(&input.ident));
            return Err(errors.report(at, message));
        }
        Data::Enum(data) => data.enum_token.to_token_stream(),
        Data::Union(data) => data.union_token.to_token_stream(),
    };
    let message = Message::new("a queue table is a struct, because its fields are the columns")
        .help(example(&input.ident));
    Err(errors.report(keyword, message))
}

fn example(row: &Ident) -> String {
    let fields = "#[queue(id)] id: i64, \
        #[queue(locked_until)] locked_until: Option<chrono::DateTime<chrono::Utc>>";
    format!("write `struct {row} {{ {fields} }}`")
}
