//! Lists of `key`, `key = value` and `key(..)`, split so that one wrong key does not hide the
//! others; and the words that stand for keys here and elsewhere.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;

use crate::diagnostics::{Errors, Message, Reported, nearest};

/// One key with what follows it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Absent,
    /// What stands after `=`; may be empty.
    Equals(TokenStream),
    List(Group),
    /// Anything else, like the value without its `=`.
    Stray(TokenStream),
}

impl Entry {
    /// Reads the tokens between two commas, if they begin with a word.
    pub(crate) fn read(tokens: TokenStream) -> Result<Self, TokenStream> {
        let mut rest = tokens.clone().into_iter();
        let Some(TokenTree::Ident(key)) = rest.next() else {
            return Err(tokens);
        };
        let rest: TokenStream = rest.collect();
        Ok(Self { key, value: Value::read(rest) })
    }

    /// The tokens after `=`; `example` is what could stand there.
    pub(crate) fn value(
        &self,
        example: &str,
        errors: &mut Errors,
    ) -> Result<&TokenStream, Reported> {
        let key = &self.key;
        let help = format!("write `{key} = {example}`");
        match &self.value {
            Value::Equals(value) if !value.is_empty() => Ok(value),
            Value::Absent | Value::Equals(_) => {
                let message = Message::new(format!("`{key}` needs a value")).help(help);
                Err(errors.report(key, message))
            }
            Value::List(list) => {
                let message = Message::new(format!("`{key}` takes its value after `=`")).help(help);
                Err(errors.report(list, message))
            }
            Value::Stray(tokens) => {
                let message = Message::new(format!("`=` is missing after `{key}`")).help(help);
                Err(errors.report(tokens, message))
            }
        }
    }

    /// Refuses a value of a key that is complete by itself.
    pub(crate) fn flag(&self, example: &str, errors: &mut Errors) -> Result<(), Reported> {
        let at = match &self.value {
            Value::Absent => return Ok(()),
            Value::List(list) => list.to_token_stream(),
            Value::Equals(value) if value.is_empty() => self.key.to_token_stream(),
            Value::Equals(value) | Value::Stray(value) => value.clone(),
        };
        let message = Message::new(format!("`{}` takes no value", self.key))
            .help(format!("write `{example}`"));
        Err(errors.report(at, message))
    }
}

impl Value {
    fn read(tokens: TokenStream) -> Self {
        let mut rest = tokens.clone().into_iter();
        match (rest.next(), rest.next()) {
            (None, _) => Self::Absent,
            (Some(TokenTree::Punct(punct)), _) if punct.as_char() == '=' => {
                Self::Equals(tokens.into_iter().skip(1).collect())
            }
            (Some(TokenTree::Group(group)), None) if group.delimiter() != Delimiter::None => {
                Self::List(group)
            }
            _ => Self::Stray(tokens),
        }
    }
}

/// Splits at the commas that stand outside of every bracket, `<` and `>` included.
pub(crate) fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    let mut depth = 0_usize;
    let mut previous = ' ';
    for token in tokens {
        let punct = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match punct {
            '<' => depth += 1,
            '>' if previous != '-' && previous != '=' => depth = depth.saturating_sub(1),
            _ => {}
        }
        previous = punct;
        match parts.last_mut() {
            Some(part) if punct != ',' || depth > 0 => part.extend([token]),
            _ => parts.push(TokenStream::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The words that can stand in one place, and what users of other systems write for them.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// What a word is here, such as "column role".
    pub(crate) noun: &'static str,
    pub(crate) known: &'static [&'static str],
    /// Words that are reserved, each with the help until they are there.
    pub(crate) not_yet: &'static [(&'static str, &'static str)],
    /// Our word, and those of other systems for it.
    pub(crate) synonyms: &'static [(&'static str, &'static [&'static str])],
    /// Words that belong in another place, with the help that names it.
    pub(crate) elsewhere: &'static [(&'static [&'static str], &'static str)],
}

impl Vocabulary {
    /// Why `word` cannot stand here, and what can.
    pub(crate) fn refusal(&self, word: &Ident) -> Message {
        let word = word.to_string();
        if let Some(message) = self.meant(&word).and_then(|ours| self.not_yet_there(ours)) {
            return message;
        }
        let unknown = Message::new(format!("unknown {} `{word}`", self.noun));
        if let Some(ours) = self.translated(&word) {
            unknown.help(format!("here it is called `{ours}`"))
        } else if let Some(help) = self.place_of(&word) {
            unknown.help(help)
        } else if let Some(near) = self.near(&word) {
            unknown.help(format!("there is one with a similar name: `{near}`"))
        } else {
            unknown.help(format!("known here: {}", listed(self.known)))
        }
    }

    /// The word of ours that `word` is, or was probably meant to be.
    pub(crate) fn meant(&self, word: &str) -> Option<&'static str> {
        if self.place_of(word).is_some() {
            return None;
        }
        self.translated(word).or_else(|| self.near(word))
    }

    /// Whether `word` stands for something that is not there yet.
    pub(crate) fn reserves(&self, word: &str) -> bool {
        self.not_yet_there(self.translated(word).unwrap_or(word)).is_some()
    }

    fn near(&self, word: &str) -> Option<&'static str> {
        let reserved = self.not_yet.iter().map(|(reserved, _)| *reserved);
        nearest(word, self.known.iter().copied().chain(reserved))
    }

    fn translated(&self, word: &str) -> Option<&'static str> {
        let (ours, _) = self.synonyms.iter().find(|(_, theirs)| theirs.contains(&word))?;
        Some(ours)
    }

    fn place_of(&self, word: &str) -> Option<&'static str> {
        let (_, help) = self.elsewhere.iter().find(|(words, _)| words.contains(&word))?;
        Some(help)
    }

    fn not_yet_there(&self, word: &str) -> Option<Message> {
        let (word, help) = self.not_yet.iter().find(|(known, _)| *known == word)?;
        Some(Message::new(format!("`{word}` is not there yet")).help(help))
    }
}

/// ``"`a`, `b`"`` for a help text.
pub(crate) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
