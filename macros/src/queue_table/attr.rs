//! Reads `#[queue_table(..)]` and `#[queue(..)]`; knows one attribute at a time.

use proc_macro2::Ident;
use syn::{Attribute, DeriveInput, Field, LitStr, Meta, Type};

use super::sqlx::SqlxField;
use super::vocabulary::{ROLES, TABLE_KEYS, table_name};
use crate::diagnostics::{Errors, Message, Reported};
use crate::keys::{Entry, Value, split};
use crate::values;

/// The keys of `#[queue_table(..)]`, as far as they are given.
#[derive(Debug, Default)]
pub(crate) struct TableKeys {
    name: Option<LitStr>,
    schema: Option<LitStr>,
}

/// Where the table is.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: LitStr,
    pub(crate) schema: Option<LitStr>,
}

impl TableKeys {
    pub(crate) fn read(input: &DeriveInput, errors: &mut Errors) -> Result<Self, Reported> {
        let mark = errors.mark();
        let example = format!("{:?}", table_name(&input.ident));
        let usage = format!("#[queue_table(name = {example})]");
        let mut keys = Self::default();
        for attr in attributes(&input.attrs, "queue_table") {
            for entry in entries(attr, "queue_table", &usage, errors) {
                let key = &entry.key;
                let (slot, example) = match key.to_string().as_str() {
                    "name" => (&mut keys.name, example.as_str()),
                    "schema" => (&mut keys.schema, "\"app\""),
                    _ => {
                        errors.report(key, TABLE_KEYS.refusal(key));
                        continue;
                    }
                };
                if slot.is_some() {
                    errors.report(key, twice(key));
                } else {
                    *slot = values::name(&entry, example, errors).ok();
                }
            }
        }
        errors.none_since(&mark)?;
        Ok(keys)
    }

    pub(crate) fn place(self, row: &Ident, errors: &mut Errors) -> Result<Place, Reported> {
        let schema = self.schema;
        match self.name {
            Some(name) => Ok(Place { name, schema }),
            None => {
                let message = Message::new(format!("`{row}` does not name its table"))
                    .help(format!("add `#[queue_table(name = {:?})]`", table_name(row)));
                Err(errors.report(row, message))
            }
        }
    }
}

/// The role that a field is marked with.
#[derive(Debug)]
pub(crate) struct Role {
    pub(crate) word: Ident,
    /// The type of the messages that a payload is tied to.
    pub(crate) message: Option<Type>,
}

pub(crate) fn role(
    field: &Field,
    sqlx: &SqlxField,
    errors: &mut Errors,
) -> Result<Option<Role>, Reported> {
    let mark = errors.mark();
    let mut role: Option<Role> = None;
    for attr in attributes(&field.attrs, "queue") {
        for entry in entries(attr, "queue", "#[queue(id)]", errors) {
            let word = &entry.key;
            if !ROLES.known.contains(&word.to_string().as_str()) {
                errors.report(word, ROLES.refusal(word));
            } else if let Some(first) = &role {
                errors.report(word, two_roles(field, &first.word, word));
            } else if let Ok(message) = message(&entry, field, errors) {
                role = Some(Role { word: entry.key, message });
            }
        }
    }
    errors.none_since(&mark)?;
    match role {
        Some(role) if sqlx.skip => {
            let word = role.word;
            let message = Message::new(format!("`{word}` is a column, and sqlx skips this field"))
                .help("remove `#[sqlx(skip)]`");
            Err(errors.report(word, message))
        }
        role => Ok(role),
    }
}

/// The type that a payload is tied to, if the role says one; other roles say nothing.
fn message(entry: &Entry, field: &Field, errors: &mut Errors) -> Result<Option<Type>, Reported> {
    let ty = match &entry.value {
        Value::Equals(ty) if entry.key == "payload" && !ty.is_empty() => ty,
        _ => return entry.flag(&format!("#[queue({})]", entry.key), errors).map(|()| None),
    };
    let Ok(message) = syn::parse2::<Type>(ty.clone()) else {
        let message = Message::new("`payload` takes the type of its messages")
            .help("write `#[queue(payload = Email)]`");
        return Err(errors.report(ty, message));
    };
    if is_json(&field.ty) {
        let message = Message::new("a `Json<..>` column says already what its messages are")
            .help("write `#[queue(payload)]`");
        return Err(errors.report(ty, message));
    }
    Ok(Some(message))
}

fn is_json(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|word| word.ident == "Json"),
        _ => false,
    }
}

fn two_roles(field: &Field, first: &Ident, second: &Ident) -> Message {
    if first == second {
        return twice(second);
    }
    let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    Message::new(format!("`{name}` cannot be both `{first}` and `{second}`"))
        .help(format!("keep `#[queue({first})]` or `#[queue({second})]`"))
}

fn twice(key: &Ident) -> Message {
    Message::new(format!("`{key}` is given twice")).help("keep one of them")
}

fn attributes<'a>(
    attrs: &'a [Attribute],
    name: &'a str,
) -> impl Iterator<Item = &'a Attribute> + 'a {
    attrs.iter().filter(move |attr| attr.path().is_ident(name))
}

/// The entries of one attribute that begin with a word; the others are reported.
fn entries(attr: &Attribute, name: &str, usage: &str, errors: &mut Errors) -> Vec<Entry> {
    let parts = match &attr.meta {
        Meta::List(list) => split(list.tokens.clone()),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        let message = Message::new(format!("`{name}` takes its words in parentheses"))
            .help(format!("write `{usage}`"));
        errors.report(attr.path(), message);
    }
    let mut read = Vec::new();
    for part in parts {
        match Entry::read(part) {
            Ok(entry) => read.push(entry),
            Err(part) => {
                let message = Message::new(format!("`{name}` does not know what this stands for"))
                    .help(format!("write `{usage}`"));
                errors.report(part, message);
            }
        }
    }
    read
}
