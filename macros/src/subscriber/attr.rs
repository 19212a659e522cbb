//! Reads the arguments of `#[subscriber(..)]`; knows one key at a time.

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{ExprPath, LitStr, Type};

use super::vocabulary::{DEAD_LETTER, DECODE_FAILURES, KEYS};
use crate::diagnostics::{Errors, Message, Reported};
use crate::keys::{Entry, Value, listed, split};
use crate::values;

/// What the attribute says, as far as it could be read.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) row: Result<Type, Reported>,
    pub(crate) group: Option<Given<LitStr>>,
    pub(crate) workers: Option<Given<u32>>,
    pub(crate) batch: Option<Given<u32>>,
    pub(crate) poll_interval: Option<Given<Duration>>,
    pub(crate) lease: Option<Given<Duration>>,
    pub(crate) timeout: Option<Given<Duration>>,
    pub(crate) max_attempts: Option<Given<u32>>,
    pub(crate) dead_letter: Option<Given<DeadLetter>>,
    pub(crate) on_error: Option<Given<ExprPath>>,
    pub(crate) on_decode_failure: Option<Given<DecodeFailure>>,
    /// The keys that were meant by unknown or reserved ones.
    misread: Vec<(&'static str, Reported)>,
}

/// A key that stands in the attribute, with its value if that could be read.
#[derive(Debug)]
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: Result<T, Reported>,
}

/// Where spent rows go.
#[derive(Debug)]
pub(crate) enum DeadLetter {
    Group(LitStr),
    Table(Box<Type>),
}

#[derive(Debug)]
pub(crate) enum DecodeFailure {
    Drop,
    Retry,
    RetryAfter(Duration),
    DeadLetter(Ident),
}

impl Settings {
    pub(crate) fn read(arguments: TokenStream, handler: &Ident, errors: &mut Errors) -> Self {
        let mut parts = split(arguments);
        let row = row_type(&mut parts, handler, errors);
        let mut settings = Self {
            row,
            group: None,
            workers: None,
            batch: None,
            poll_interval: None,
            lease: None,
            timeout: None,
            max_attempts: None,
            dead_letter: None,
            on_error: None,
            on_decode_failure: None,
            misread: Vec::new(),
        };
        for part in parts {
            match Entry::read(part) {
                Ok(entry) => settings.set(&entry, errors),
                Err(part) => {
                    let message = Message::new("a subscriber does not know what this stands for")
                        .help(format!("known here: {}", listed(KEYS.known)));
                    errors.report(part, message);
                }
            }
        }
        settings
    }

    fn set(&mut self, entry: &Entry, errors: &mut Errors) {
        let key = &entry.key;
        match key.to_string().as_str() {
            "group" => give(&mut self.group, entry, errors, |entry, errors| {
                values::text(entry, "\"welcome\"", errors)
            }),
            "workers" => give(&mut self.workers, entry, errors, |entry, errors| {
                values::count(entry, 16, MOST_WORKERS, errors)
            }),
            "batch" => give(&mut self.batch, entry, errors, |entry, errors| {
                values::count(entry, 100, MOST_ROWS, errors)
            }),
            "poll_interval" => give(&mut self.poll_interval, entry, errors, |entry, errors| {
                values::duration(entry, "1s", errors)
            }),
            "lease" => give(&mut self.lease, entry, errors, |entry, errors| {
                values::duration(entry, "30s", errors)
            }),
            "timeout" => give(&mut self.timeout, entry, errors, |entry, errors| {
                values::duration(entry, "10s", errors)
            }),
            "max_attempts" => give(&mut self.max_attempts, entry, errors, |entry, errors| {
                values::count(entry, 5, MOST_ATTEMPTS, errors)
            }),
            "dead_letter" => give(&mut self.dead_letter, entry, errors, dead_letter),
            "on_error" => give(&mut self.on_error, entry, errors, on_error),
            "on_decode_failure" => {
                give(&mut self.on_decode_failure, entry, errors, on_decode_failure);
            }
            word => {
                let reported = errors.report(key, KEYS.refusal(key));
                self.misread.extend(KEYS.meant(word).map(|meant| (meant, reported)));
            }
        }
    }

    /// The report about a key that was meant, and could not be read: what goes with it is then not
    /// reported too.
    pub(crate) fn misread(&self, key: &str) -> Option<Reported> {
        let (_, reported) = self.misread.iter().find(|(meant, _)| *meant == key)?;
        Some(*reported)
    }
}

/// Beyond this a subscription is a mistake in a digit: each worker is a task and a decoded message.
const MOST_WORKERS: u32 = 1024;

/// Beyond this a batch is a mistake in a digit: all of its rows are in memory at once.
const MOST_ROWS: u32 = 10_000;

/// The smallest type of an attempt column counts to this.
const MOST_ATTEMPTS: u32 = 32_767;

impl<T> Given<T> {
    pub(crate) fn value(&self) -> Option<&T> {
        self.value.as_ref().ok()
    }
}

fn give<T>(
    slot: &mut Option<Given<T>>,
    entry: &Entry,
    errors: &mut Errors,
    read: impl FnOnce(&Entry, &mut Errors) -> Result<T, Reported>,
) {
    let key = entry.key.clone();
    if slot.is_some() {
        let message = Message::new(format!("`{key}` is given twice")).help("keep one of them");
        errors.report(key, message);
        return;
    }
    let value = read(entry, errors);
    *slot = Some(Given { key, value });
}

/// Takes the row type from the front.
fn row_type(
    parts: &mut Vec<TokenStream>,
    handler: &Ident,
    errors: &mut Errors,
) -> Result<Type, Reported> {
    if parts.first().is_some_and(|part| !is_setting(part)) {
        let first = parts.remove(0);
        return match syn::parse2::<Type>(first.clone()) {
            Ok(ty @ (Type::Path(_) | Type::Group(_))) => Ok(ty),
            _ => {
                let message = Message::new("the row type is named by its path")
                    .help("write `#[subscriber(EmailJob)]` for `struct EmailJob`");
                Err(errors.report(first, message))
            }
        };
    }
    let misplaced = parts.iter().position(|part| !is_setting(part));
    if let Some(misplaced) = misplaced {
        let row = parts.remove(misplaced);
        let message =
            Message::new("the row type stands first").help(format!("move `{row}` to the front"));
        return Err(errors.report(row, message));
    }
    let message = Message::new(format!("the subscriber `{handler}` does not name its row type"))
        .help("write `#[subscriber(EmailJob)]` for `struct EmailJob`");
    Err(errors.report(handler, message))
}

/// Whether a part is a key, and not a type.
fn is_setting(part: &TokenStream) -> bool {
    match Entry::read(part.clone()) {
        Ok(Entry { key, value: Value::Absent }) => {
            let key = key.to_string();
            KEYS.known.contains(&key.as_str()) || KEYS.reserves(&key)
        }
        Ok(entry) => matches!(entry.value, Value::Equals(_) | Value::List(_)),
        Err(_) => false,
    }
}

fn dead_letter(entry: &Entry, errors: &mut Errors) -> Result<DeadLetter, Reported> {
    let help = "write `dead_letter(group = \"failed\")`, or `dead_letter(table = DeadEmail)` in a \
                table without groups";
    let message = |text: &str| Message::new(text).help(help);
    let list = match &entry.value {
        Value::List(list) if !list.stream().is_empty() => list,
        Value::List(_) | Value::Absent => {
            let message = message("`dead_letter` does not say where rows go");
            return Err(errors.report(&entry.key, message));
        }
        Value::Equals(value) | Value::Stray(value) => {
            let message = message("`dead_letter` takes its place in parentheses");
            return Err(errors.report(value, message));
        }
    };
    let mark = errors.mark();
    let (mut group, mut table) = (None, None);
    for part in split(list.stream()) {
        match Entry::read(part) {
            Ok(inner) if inner.key == "group" => {
                give(&mut group, &inner, errors, |inner, errors| {
                    values::text(inner, "\"failed\"", errors)
                });
            }
            Ok(inner) if inner.key == "table" => {
                give(&mut table, &inner, errors, dead_letter_table);
            }
            Ok(inner) => {
                errors.report(&inner.key, DEAD_LETTER.refusal(&inner.key));
            }
            Err(part) => {
                errors.report(part, message("`dead_letter` names its place by a key"));
            }
        }
    }
    errors.none_since(&mark)?;
    match (group, table) {
        (Some(group), None) => group.value.map(DeadLetter::Group),
        (None, Some(table)) => table.value.map(Box::new).map(DeadLetter::Table),
        (Some(_), Some(table)) => {
            let message = Message::new("dead letters go to a group or to a table, not to both")
                .help("keep `group` in a table with groups, else `table`");
            Err(errors.report(&table.key, message))
        }
        (None, None) => {
            let message = message("`dead_letter` does not say where rows go");
            Err(errors.report(&entry.key, message))
        }
    }
}

fn dead_letter_table(entry: &Entry, errors: &mut Errors) -> Result<Type, Reported> {
    let value = entry.value("DeadEmail", errors)?;
    match syn::parse2::<Type>(value.clone()) {
        Ok(ty @ (Type::Path(_) | Type::Group(_))) => Ok(ty),
        _ => {
            let message = Message::new("the table of dead letters is named by its row type")
                .help("write `dead_letter(table = DeadEmail)` for `struct DeadEmail`");
            Err(errors.report(value, message))
        }
    }
}

fn on_error(entry: &Entry, errors: &mut Errors) -> Result<ExprPath, Reported> {
    let value = entry.value("settle_error", errors)?;
    let Ok(path) = syn::parse2::<ExprPath>(value.clone()) else {
        let meant = syn::parse2::<LitStr>(value.clone()).map(|text| text.value());
        let path = meant.unwrap_or_else(|_| "settle_error".to_owned());
        let message = Message::new("`on_error` takes the path of a function")
            .help(format!("write `on_error = {path}`"))
            .note(format!("with `fn {path}(error: &Error, meta: &Meta) -> Outcome`"));
        return Err(errors.report(value, message));
    };
    Ok(path)
}

fn on_decode_failure(entry: &Entry, errors: &mut Errors) -> Result<DecodeFailure, Reported> {
    let value = entry.value("drop", errors)?;
    let Ok(answer) = Entry::read(value.clone()) else {
        let meant = syn::parse2::<LitStr>(value.clone()).map(|text| text.value()).ok();
        let word = meant.filter(|word| ["drop", "retry", "dead_letter"].contains(&word.as_str()));
        let word = word.unwrap_or_else(|| "drop".to_owned());
        let message = Message::new("`on_decode_failure` takes a word, without quotes")
            .help(format!("write `on_decode_failure = {word}`"))
            .note(format!("known here: {}", listed(DECODE_FAILURES.known)));
        return Err(errors.report(value, message));
    };
    let word = answer.key.to_string();
    if word == "retry_after" {
        return retry_after(&answer, errors).map(DecodeFailure::RetryAfter);
    }
    if !DECODE_FAILURES.known.contains(&word.as_str()) {
        return Err(errors.report(&answer.key, DECODE_FAILURES.refusal(&answer.key)));
    }
    answer.flag(&format!("on_decode_failure = {word}"), errors)?;
    Ok(match word.as_str() {
        "drop" => DecodeFailure::Drop,
        "retry" => DecodeFailure::Retry,
        _ => DecodeFailure::DeadLetter(answer.key),
    })
}

fn retry_after(answer: &Entry, errors: &mut Errors) -> Result<Duration, Reported> {
    let written = |text: &str| format!("on_decode_failure = retry_after({text:?})");
    match &answer.value {
        Value::List(list) if !list.stream().is_empty() => {
            values::duration_in(&list.stream(), "retry_after", "60s", written, errors)
        }
        other => {
            let at = match other {
                Value::Equals(value) | Value::Stray(value) => value.clone(),
                Value::Absent | Value::List(_) => answer.key.to_token_stream(),
            };
            let message = Message::new("`retry_after` does not say how long")
                .help(format!("write `{}`", written("60s")));
            Err(errors.report(at, message))
        }
    }
}
