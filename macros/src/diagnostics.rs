//! Errors are collected, not returned: a declaration with three mistakes gets three messages.

use std::fmt::{self, Display};

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Every mistake of one declaration, in the order in which it was found.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<Mistake>);

#[derive(Debug)]
struct Mistake {
    error: syn::Error,
    /// What the error underlines; a span cannot be read back outside of rustc.
    #[cfg(test)]
    underlined: String,
}

/// The proof that an error was reported: its holder can give up without another word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported(());

/// A place in the list of mistakes.
#[derive(Debug)]
pub(crate) struct Mark(usize);

impl Errors {
    /// Records a mistake; `at` is the smallest token that the user has to change.
    pub(crate) fn report(&mut self, at: impl ToTokens, message: impl Into<Message>) -> Reported {
        let at = at.into_token_stream();
        self.0.push(Mistake {
            error: syn::Error::new_spanned(&at, message.into()),
            #[cfg(test)]
            underlined: at.to_string(),
        });
        Reported(())
    }

    /// Records what syn says, where it knows better than we do.
    pub(crate) fn pass_on(&mut self, error: syn::Error) -> Reported {
        self.0.push(Mistake {
            error,
            #[cfg(test)]
            underlined: String::new(),
        });
        Reported(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.0.len())
    }

    /// Fails if a mistake was reported after the mark.
    pub(crate) fn none_since(&self, mark: &Mark) -> Result<(), Reported> {
        if self.0.len() > mark.0 {
            return Err(Reported(()));
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |mistake: &Mistake| format!("{} -> {}", mistake.underlined, mistake.error);
        self.0.iter().map(line).collect()
    }
}

impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for mistake in &self.0 {
            mistake.error.to_compile_error().to_tokens(tokens);
        }
    }
}

/// One lower-case sentence in the user's words, then what to type, then why.
///
/// rustc prints the further lines of a `compile_error!` indented below the first, which is the only
/// way to a help text that works on stable.
#[derive(Debug)]
pub(crate) struct Message(String);

impl Message {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    pub(crate) fn help(self, text: impl Display) -> Self {
        Self(format!("{self}\nhelp: {text}"))
    }

    pub(crate) fn note(self, text: impl Display) -> Self {
        Self(format!("{self}\nnote: {text}"))
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Message {
    fn from(sentence: String) -> Self {
        Self(sentence)
    }
}

/// The known word that `word` is most likely a slip of the finger for.
pub(crate) fn nearest(
    word: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let allowed = (word.chars().count() / 3).max(1);
    known
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|&(edits, _)| edits <= allowed)
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be typed, deleted, replaced or swapped with their neighbour to come from
/// `from` to `to`.
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 0..from.len() {
        let mut row = vec![i + 1];
        for j in 0..to.len() {
            let replaced = last[j] + usize::from(from[i] != to[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j] {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}
