//! The rules that relate two facts of a subscriber; those of one key are in `attr`, those of one
//! argument in `signature`, and those that need the table are left to rustc (`declared`).

use quote::ToTokens;
use syn::{GenericArgument, GenericParam, PathArguments, ReturnType, Signature, Type};

use super::attr::{DeadLetter, DecodeFailure, Settings};
use super::signature::{Argument, Handler, last_word};
use crate::diagnostics::{Errors, Message};

/// Every rule about the attribute, in the order in which they are reported.
pub(crate) fn check_settings(settings: &Settings, sig: &Signature, errors: &mut Errors) {
    spent_rows_have_a_home(settings, errors);
    dead_letters_leave_their_group(settings, errors);
    undecodable_rows_have_a_home(settings, errors);
    an_error_can_come(settings, sig, errors);
}

/// Every rule about the function's head.
pub(crate) fn check_signature(sig: &Signature, errors: &mut Errors) {
    a_handler_is_async(sig, errors);
    a_handler_is_one_function(sig, errors);
    a_handler_comes_back(sig, errors);
}

/// Every rule about a handler of batches.
pub(crate) fn check_batch(settings: &Settings, handler: &Handler, errors: &mut Errors) {
    a_slice_is_a_batch(settings, handler, errors);
    a_batch_is_a_slice(settings, handler, errors);
    each_row_has_its_own_attempt(settings, handler, errors);
}

fn spent_rows_have_a_home(settings: &Settings, errors: &mut Errors) {
    match (&settings.max_attempts, &settings.dead_letter) {
        (Some(cap), None) if settings.misread("dead_letter").is_none() => {
            let message =
                Message::new("`max_attempts` has no place for a row whose attempts are spent")
                    .help(format!("add {}", place(settings, "")));
            errors.report(&cap.key, message);
        }
        (None, Some(dead_letter)) if settings.misread("max_attempts").is_none() => {
            let message = Message::new("`dead_letter` does not say after how many attempts")
                .help("add `max_attempts = 5`");
            errors.report(&dead_letter.key, message);
        }
        _ => {}
    }
}

/// What to type for a place that dead letters go to, with what stands before it.
fn place(settings: &Settings, before: &str) -> String {
    let group = format!("`{before}dead_letter(group = \"failed\")`");
    match settings.group {
        Some(_) => group,
        None => {
            format!("`{before}dead_letter(table = DeadEmail)`, or {group} in a table with groups")
        }
    }
}

fn dead_letters_leave_their_group(settings: &Settings, errors: &mut Errors) {
    let Some(dead_letter) = &settings.dead_letter else {
        return;
    };
    match (&settings.group, dead_letter.value()) {
        (None, Some(DeadLetter::Group(_))) if settings.misread("group").is_none() => {
            let message = Message::new(
                "`dead_letter` moves a row to another group, and this subscriber has none",
            )
            .help(
                "add `group = \"welcome\"`, or write `dead_letter(table = DeadEmail)` in a table \
                 without groups",
            );
            errors.report(&dead_letter.key, message);
        }
        (Some(group), Some(DeadLetter::Table(table))) => {
            let message =
                Message::new("`dead_letter` moves a row to another table, and this one has groups")
                    .help("write `dead_letter(group = \"failed\")`")
                    .note(format!("in a table without groups, remove `{}`", group.key));
            errors.report(table, message);
        }
        (Some(group), Some(DeadLetter::Group(place))) if group.value() == Some(place) => {
            let message = Message::new(format!(
                "dead letters of `{0}` would come back to `{0}`",
                place.value()
            ))
            .help("write `dead_letter(group = \"failed\")`");
            errors.report(place, message);
        }
        _ => {}
    }
}

fn undecodable_rows_have_a_home(settings: &Settings, errors: &mut Errors) {
    let answer = settings.on_decode_failure.as_ref().and_then(|given| given.value());
    if let (Some(DecodeFailure::DeadLetter(word)), None) = (answer, &settings.dead_letter)
        && settings.misread("dead_letter").is_none()
    {
        let message = Message::new("this subscriber has no place for dead letters")
            .help(format!("add {}", place(settings, "max_attempts = 5, ")));
        errors.report(word, message);
    }
}

fn an_error_can_come(settings: &Settings, sig: &Signature, errors: &mut Errors) {
    let Some(on_error) = &settings.on_error else {
        return;
    };
    let never_fails = match &sig.output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => {
            last_word(ty).is_some_and(|word| word == "Outcome" || word == "Vec")
        }
    };
    if never_fails {
        let message =
            Message::new(format!("`on_error` has nothing to do: `{}` returns no error", sig.ident))
                .help("return `Result<(), Error>`, or remove `on_error`");
        errors.report(&on_error.key, message);
    }
}

fn a_slice_is_a_batch(settings: &Settings, handler: &Handler, errors: &mut Errors) {
    if let (Some(ty), None) = (handler.slice(), &settings.batch)
        && settings.misread("batch").is_none()
    {
        let message =
            Message::new("a slice takes a batch, and the attribute does not say how large")
                .help(format!(
                    "add `batch = 100`, or take one row a call: `&{}`",
                    ty.to_token_stream()
                ))
                .note("a payload of bytes is a `&Vec<u8>`");
        errors.report(ty, message);
    }
}

fn a_batch_is_a_slice(settings: &Settings, handler: &Handler, errors: &mut Errors) {
    let (Some(batch), None) = (&settings.batch, handler.slice()) else {
        return;
    };
    let one = handler.arguments.iter().find_map(|argument| match argument {
        Argument::Message(ty) | Argument::Row(ty) => Some(ty),
        _ => None,
    });
    match one {
        Some(ty) => {
            let list = last_word(ty).is_some_and(|word| word == "Vec");
            let each = element(ty).filter(|_| list).unwrap_or(ty).to_token_stream();
            let message = Message::new("with `batch` a handler takes a slice")
                .help(format!("write `&[{each}]`, or remove `batch`"));
            errors.report(ty, message);
        }
        None => {
            let message = Message::new("`batch` has nothing to do: the handler takes no slice")
                .help("take the messages: `messages: &[T]`, or remove `batch`");
            errors.report(&batch.key, message);
        }
    }
}

fn each_row_has_its_own_attempt(settings: &Settings, handler: &Handler, errors: &mut Errors) {
    if handler.slice().is_none() {
        return;
    }
    let row = settings.row.as_ref().map(|row| row.to_token_stream().to_string());
    let row = row.unwrap_or_else(|_| "Row".to_owned());
    for argument in &handler.arguments {
        let Argument::Extractor(ty) = argument else { continue };
        let key = element(ty).filter(|_| last_word(ty).is_some_and(|word| word == "Ctx"));
        let own = match key.and_then(last_word).map(ToString::to_string).as_deref() {
            Some("Attempt") => "attempt",
            Some("Id") => "id",
            _ => continue,
        };
        let message = Message::new(format!("each row of a batch has its own {own}"))
            .help(format!("take the rows, `rows: &[{row}]`, and read it there: `row.{own}`"));
        errors.report(ty, message);
    }
}

/// What stands between `<` and `>`, if it is one type.
fn element(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match list.args.first()? {
        GenericArgument::Type(ty) if list.args.len() == 1 => Some(ty),
        _ => None,
    }
}

fn a_handler_is_async(sig: &Signature, errors: &mut Errors) {
    if sig.asyncness.is_none() {
        let message = Message::new("a subscriber is an `async fn`")
            .help(format!("write `async fn {}`", sig.ident))
            .note("work that blocks belongs in `tokio::task::spawn_blocking`");
        errors.report(sig.fn_token, message);
    }
}

fn a_handler_is_one_function(sig: &Signature, errors: &mut Errors) {
    let plain = format!("write `async fn {}`", sig.ident);
    if let Some(token) = &sig.constness {
        errors.report(token, Message::new("a subscriber cannot be `const`").help(&plain));
    }
    if let Some(token) = &sig.unsafety {
        errors.report(token, Message::new("a subscriber cannot be `unsafe`").help(&plain));
    }
    if let Some(abi) = &sig.abi {
        errors.report(abi, Message::new("a subscriber cannot be `extern`").help(&plain));
    }
    if sig.generics.params.is_empty() {
        return;
    }
    let only_lifetimes =
        sig.generics.params.iter().all(|param| matches!(param, GenericParam::Lifetime(_)));
    let message = match only_lifetimes {
        true => Message::new("a subscriber names no lifetimes")
            .help("leave them out: the message is a plain `&T`"),
        false => Message::new("a subscriber cannot be generic")
            .help(format!("{plain}, and name its types"))
            .note("each is one handler of one table"),
    };
    errors.report(&sig.generics, message);
}

fn a_handler_comes_back(sig: &Signature, errors: &mut Errors) {
    if let ReturnType::Type(_, ty) = &sig.output
        && let Type::Never(never) = &**ty
    {
        let message =
            Message::new("a handler that never returns settles nothing").help("return `Outcome`");
        errors.report(never.to_token_stream(), message);
    }
}
