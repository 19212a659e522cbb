//! The values that keys take: text, whole numbers, and durations such as `"30s"`.

use std::time::Duration;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{LitInt, LitStr};

use crate::diagnostics::{Errors, Message, Reported};
use crate::keys::Entry;

/// A text that can be a name in a database or a value of a text column.
pub(crate) fn text(entry: &Entry, example: &str, errors: &mut Errors) -> Result<LitStr, Reported> {
    let key = &entry.key;
    let value = entry.value(example, errors)?;
    let Ok(text) = syn::parse2::<LitStr>(value.clone()) else {
        let message = Message::new(format!("`{key}` takes a text in quotes"))
            .help(format!("write `{key} = {example}`"));
        return Err(errors.report(value, message));
    };
    if text.value().contains('\0') {
        let message = Message::new(format!("`{key}` contains a NUL character"))
            .note("no database takes one in a name or a text");
        return Err(errors.report(text, message));
    }
    Ok(text)
}

/// A text that names something, so that it cannot be empty.
pub(crate) fn name(entry: &Entry, example: &str, errors: &mut Errors) -> Result<LitStr, Reported> {
    let name = text(entry, example, errors)?;
    if name.value().is_empty() {
        let message = Message::new(format!("`{}` is empty", entry.key))
            .help(format!("write `{} = {example}`", entry.key));
        return Err(errors.report(name, message));
    }
    Ok(name)
}

/// A number that counts something from one to `most`.
pub(crate) fn count(
    entry: &Entry,
    example: u32,
    most: u32,
    errors: &mut Errors,
) -> Result<u32, Reported> {
    let key = &entry.key;
    let value = entry.value(&example.to_string(), errors)?;
    let number =
        syn::parse2::<LitInt>(value.clone()).ok().filter(|number| number.suffix().is_empty());
    let wrong = match number.map(|number| number.base10_parse::<u32>()) {
        None => format!("`{key}` takes a whole number"),
        Some(Ok(0)) => format!("`{key}` must be at least 1"),
        Some(Ok(number)) if number <= most => return Ok(number),
        Some(_) => format!("`{key}` must be at most {most}"),
    };
    let message = Message::new(wrong).help(format!("write `{key} = {example}`"));
    Err(errors.report(value, message))
}

/// A duration after `=`.
pub(crate) fn duration(
    entry: &Entry,
    example: &str,
    errors: &mut Errors,
) -> Result<Duration, Reported> {
    let value = entry.value(&format!("{example:?}"), errors)?;
    let key = entry.key.to_string();
    duration_in(value, &key, example, |text| format!("{key} = {text:?}"), errors)
}

/// A duration in `tokens`; `written` shows how a text stands in its place.
pub(crate) fn duration_in(
    tokens: &TokenStream,
    subject: &str,
    example: &str,
    written: impl Fn(&str) -> String,
    errors: &mut Errors,
) -> Result<Duration, Reported> {
    let (wrong, better) = match syn::parse2::<LitStr>(tokens.clone()) {
        Ok(text) => match milliseconds(&text.value(), subject) {
            Ok(milliseconds) => return Ok(Duration::from_millis(milliseconds)),
            Err(wrong) => wrong,
        },
        Err(_) => {
            let seconds = syn::parse2::<LitInt>(tokens.clone())
                .ok()
                .and_then(|number| number.base10_parse::<u32>().ok())
                .filter(|&seconds| seconds > 0);
            let sentence = format!("`{subject}` takes a duration in quotes");
            (sentence, seconds.map(|seconds| format!("{seconds}s")))
        }
    };
    let better = written(&better.unwrap_or_else(|| example.to_owned()));
    let message = Message::new(wrong).help(format!("write `{better}`"));
    Err(errors.report(tokens.to_token_stream(), message))
}

/// What is wrong, and the text that was probably meant.
type Misspelt = (String, Option<String>);

fn milliseconds(text: &str, subject: &str) -> Result<u64, Misspelt> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        let sentence = format!("`{text}` is not a duration, which is a whole number and a unit");
        return Err((sentence, None));
    }
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "" => return Err((format!("`{text}` has no unit"), Some(format!("{number}s")))),
        _ if unit.starts_with('.') => {
            return Err((format!("`{text}` is not a whole number of its unit"), None));
        }
        _ => {
            let meant = meant(unit).map(|unit| format!("{number}{unit}"));
            let sentence = format!(
                "unknown unit `{}` in `{text}`: the units are `ms`, `s`, `m` and `h`",
                unit.trim(),
            );
            return Err((sentence, meant));
        }
    };
    match number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)) {
        Some(0) => Err((format!("`{subject}` must be longer than zero"), None)),
        Some(milliseconds) if milliseconds <= LONGEST => Ok(milliseconds),
        _ => Err((format!("`{text}` is longer than a hundred years"), None)),
    }
}

/// A hundred years, so that no database's time type overflows when it is added to now.
const LONGEST: u64 = 100 * 365 * 24 * 3_600_000;

/// The unit for how other systems spell it.
fn meant(unit: &str) -> Option<&'static str> {
    match unit.trim().to_lowercase().as_str() {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => Some("ms"),
        "s" | "sec" | "secs" | "second" | "seconds" => Some("s"),
        "m" | "min" | "mins" | "minute" | "minutes" => Some("m"),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some("h"),
        _ => None,
    }
}
