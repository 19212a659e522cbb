//! The rules that relate two facts of a declaration; those of one attribute are in `attr`.

use proc_macro2::Ident;
use syn::DeriveInput;

use super::model::{Column, constant};
use super::vocabulary::ROLES;
use crate::diagnostics::{Errors, Message};

/// What could be read of a declaration.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) row: &'a Ident,
    pub(crate) columns: &'a [Column],
    // What could not be read may be just what seems to be missing.
    pub(crate) keys_were_read: bool,
    pub(crate) fields_were_read: bool,
}

/// Every rule, in the order in which they are reported.
pub(crate) fn check(draft: &Draft<'_>, errors: &mut Errors) {
    a_role_marks_one_column(draft, errors);
    a_column_is_one_field(draft, errors);
    a_data_column_has_its_own_constant(draft, errors);
    if draft.fields_were_read {
        a_table_has_an_id(draft, errors);
    }
    if draft.fields_were_read && draft.keys_were_read {
        a_lease_is_not_forgotten(draft, errors);
    }
}

pub(crate) fn a_table_is_not_generic(input: &DeriveInput, errors: &mut Errors) {
    let generics = &input.generics;
    if generics.params.is_empty() {
        return;
    }
    let message = Message::new("a queue table cannot be generic")
        .help(format!("write `struct {}` and name the types of its fields", input.ident))
        .note("each table is one row type with one set of statements");
    errors.report(generics, message);
}

fn a_role_marks_one_column(draft: &Draft<'_>, errors: &mut Errors) {
    for role in ROLES.known {
        let mut marked = draft.columns.iter().filter(|column| column.is(role));
        let Some(first) = marked.next() else {
            continue;
        };
        for second in marked {
            let message = Message::new(format!(
                "`{}` has two `{role}` columns: `{}` and `{}`",
                draft.row, first.field, second.field,
            ));
            let help = format!("keep one `#[queue({role})]`");
            errors.report(&second.role, message.help(help));
        }
    }
}

fn a_column_is_one_field(draft: &Draft<'_>, errors: &mut Errors) {
    for (index, second) in draft.columns.iter().enumerate() {
        let before = &draft.columns[..index];
        let Some(first) = before.iter().find(|column| column.name == second.name) else {
            continue;
        };
        // Of two fields the renamed one is the mistake, whichever stands first.
        let at = if second.rename.is_none() { first } else { second };
        let message = Message::new(format!(
            "`{}` and `{}` are both the column `{}`",
            first.field, second.field, second.name,
        ));
        let help = "give one of them a name of its own: `#[sqlx(rename = \"other_name\")]`";
        errors.report(at.name_tokens(), message.help(help));
    }
}

fn a_data_column_has_its_own_constant(draft: &Draft<'_>, errors: &mut Errors) {
    let data = || draft.columns.iter().filter(|column| column.role.is_none());
    for (index, second) in data().enumerate() {
        let name = constant(&second.field);
        if let Some(first) = data().take(index).find(|column| constant(&column.field) == name) {
            let message = Message::new(format!(
                "the fields `{}` and `{}` differ only in their case",
                first.field, second.field,
            ))
            .help(format!("rename the field: `#[sqlx(rename = {:?})] other_name`", second.name))
            .note(format!("both would be the constant `{name}`"));
            errors.report(&second.field, message);
        }
    }
}

fn a_table_has_an_id(draft: &Draft<'_>, errors: &mut Errors) {
    if draft.columns.iter().any(|column| column.is("id")) {
        return;
    }
    let row = draft.row;
    let message = Message::new(format!("`{row}` has no `id` column"));
    let help = match field_named(draft, "id") {
        Some(field) => format!("add `#[queue(id)]` to the field `{field}`"),
        None => "mark the primary key: `#[queue(id)] id: i64`".to_owned(),
    };
    errors.report(row, message.help(help));
}

/// Without it the rows would be locked instead: another mode, because of a forgotten word.
fn a_lease_is_not_forgotten(draft: &Draft<'_>, errors: &mut Errors) {
    if draft.columns.iter().any(|column| column.is("locked_until")) {
        return;
    }
    let Some(field) = field_named(draft, "locked_until") else {
        return;
    };
    let message = Message::new(format!("the field `{field}` is not marked as the lease"))
        .help(format!("write `#[queue(locked_until)] {field}`"))
        .note(
            "without a lease the rows are locked while they are in work; for that, give the field \
             another name: `#[sqlx(rename = \"locked_until\")] other_name`",
        );
    errors.report(field, message);
}

fn field_named<'a>(draft: &Draft<'a>, name: &str) -> Option<&'a Ident> {
    let unmarked = draft.columns.iter().filter(|column| column.role.is_none());
    unmarked.map(|column| &column.field).find(|field| *field == name)
}
