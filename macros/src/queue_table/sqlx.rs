//! What sqlx's own attributes say of a column. The others are left to sqlx, and so are mistakes in
//! them: its derive reports those.

use heck::{ToKebabCase, ToLowerCamelCase, ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Field, LitStr, Meta};

use crate::diagnostics::{Errors, Message, Reported};
use crate::keys::{Entry, Value, split};

/// How field names become column names, as `#[sqlx(rename_all = "..")]` says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Casing {
    Unchanged,
    Lower,
    Snake,
    Upper,
    ScreamingSnake,
    Kebab,
    Camel,
    Pascal,
}

impl Casing {
    pub(crate) fn read(attrs: &[Attribute]) -> Self {
        let named = entries(attrs)
            .into_iter()
            .filter(|entry| entry.key == "rename_all")
            .find_map(|entry| literal(&entry));
        match named.map(|name| name.value()).as_deref() {
            Some("lowercase") => Self::Lower,
            Some("snake_case") => Self::Snake,
            Some("UPPERCASE") => Self::Upper,
            Some("SCREAMING_SNAKE_CASE") => Self::ScreamingSnake,
            Some("kebab-case") => Self::Kebab,
            Some("camelCase") => Self::Camel,
            Some("PascalCase") => Self::Pascal,
            _ => Self::Unchanged,
        }
    }

    pub(crate) fn column(self, field: &Ident) -> String {
        let name = field.unraw().to_string();
        match self {
            Self::Unchanged => name,
            Self::Lower => name.to_lowercase(),
            Self::Snake => name.to_snake_case(),
            Self::Upper => name.to_uppercase(),
            Self::ScreamingSnake => name.to_shouty_snake_case(),
            Self::Kebab => name.to_kebab_case(),
            Self::Camel => name.to_lower_camel_case(),
            Self::Pascal => name.to_upper_camel_case(),
        }
    }
}

/// What sqlx does with one field.
#[derive(Debug, Default)]
pub(crate) struct SqlxField {
    pub(crate) rename: Option<LitStr>,
    pub(crate) skip: bool,
}

impl SqlxField {
    pub(crate) fn read(field: &Field, errors: &mut Errors) -> Result<Self, Reported> {
        let mark = errors.mark();
        let mut read = Self::default();
        for entry in entries(&field.attrs) {
            match entry.key.to_string().as_str() {
                "rename" => read.rename = literal(&entry),
                "skip" => read.skip = true,
                "flatten" | "try_from" | "json" => {
                    errors.report(&entry.key, refusal(&entry, field));
                }
                _ => {}
            }
        }
        errors.none_since(&mark)?;
        if let Some(name) = &read.rename {
            column_name_is_possible(name, errors)?;
        }
        Ok(read)
    }
}

fn column_name_is_possible(name: &LitStr, errors: &mut Errors) -> Result<(), Reported> {
    let wrong = match name.value() {
        name if name.is_empty() => "the name of this column is empty",
        name if name.contains('\0') => "the name of this column contains a NUL character",
        _ => return Ok(()),
    };
    Err(errors.report(name, Message::new(wrong).help("write the name that the table has")))
}

/// Why a field that sqlx fills in a way of its own cannot be a column of a queue table.
fn refusal(entry: &Entry, field: &Field) -> Message {
    let name = field.ident.to_token_stream();
    let ty = field.ty.to_token_stream();
    match entry.key.to_string().as_str() {
        "flatten" => Message::new(format!("`{name}` is many columns, and a field is one here"))
            .help("write the fields of the flattened struct into this one"),
        "json" => Message::new(format!("`json` hides the type of the column `{name}`"))
            .help(format!("write `{name}: sqlx::types::Json<{ty}>`")),
        _ => {
            let column = literal(entry).map_or_else(|| "i64".to_owned(), |ty| ty.value());
            Message::new(format!("`try_from` hides the type of the column `{name}`"))
                .help(format!("write `{name}: {column}`, and convert in the handler"))
        }
    }
}

fn entries(attrs: &[Attribute]) -> Vec<Entry> {
    let lists = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("sqlx") => Some(list.tokens.clone()),
        _ => None,
    });
    lists.flat_map(split).filter_map(|part| Entry::read(part).ok()).collect()
}

fn literal(entry: &Entry) -> Option<LitStr> {
    match &entry.value {
        Value::Equals(value) => syn::parse2(value.clone()).ok(),
        _ => None,
    }
}
