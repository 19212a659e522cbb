//! The rules that relate two facts of a subscriber; those of one key are in `attr`, those of one
//! argument in `signature`, and those that need the table are left to rustc (`fits`).

use quote::ToTokens;
use syn::{GenericParam, ReturnType, Signature, Type};

use super::attr::{DecodeFailure, Settings};
use super::signature::last_word;
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

fn spent_rows_have_a_home(settings: &Settings, errors: &mut Errors) {
    match (&settings.max_attempts, &settings.dead_letter) {
        (Some(cap), None) if settings.misread("dead_letter").is_none() => {
            let message =
                Message::new("`max_attempts` has no place for a row whose attempts are spent")
                    .help("add `dead_letter(group = \"failed\")`");
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

fn dead_letters_leave_their_group(settings: &Settings, errors: &mut Errors) {
    let Some(dead_letter) = &settings.dead_letter else {
        return;
    };
    match (&settings.group, dead_letter.value()) {
        (None, _) if settings.misread("group").is_none() => {
            let message = Message::new(
                "`dead_letter` moves a row to another group, and this subscriber has none",
            )
            .help("add `group = \"welcome\"`");
            errors.report(&dead_letter.key, message);
        }
        (Some(group), Some(place)) if group.value() == Some(place) => {
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
            .help("add `max_attempts = 5, dead_letter(group = \"failed\")`");
        errors.report(word, message);
    }
}

fn an_error_can_come(settings: &Settings, sig: &Signature, errors: &mut Errors) {
    let Some(on_error) = &settings.on_error else {
        return;
    };
    let never_fails = match &sig.output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => last_word(ty).is_some_and(|word| word == "Outcome"),
    };
    if never_fails {
        let message =
            Message::new(format!("`on_error` has nothing to do: `{}` returns no error", sig.ident))
                .help("return `Result<(), Error>`, or remove `on_error`");
        errors.report(&on_error.key, message);
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
