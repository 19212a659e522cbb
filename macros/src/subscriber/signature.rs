//! Reads the function below the attribute. The body stays as it was typed, even half.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, FnArg, PatType, ReturnType, Signature, Type, TypeReference, Visibility};

use super::attr::Settings;
use super::borrows;
use crate::diagnostics::{Errors, Message, Reported};

/// The user's function, untouched.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

/// What a subscriber's function takes and returns.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) arguments: Vec<Argument>,
    /// None is `()`.
    pub(crate) output: Option<Type>,
}

#[derive(Debug)]
pub(crate) enum Argument {
    /// The message, decoded from the payload; without its `&`.
    Message(Type),
    /// The row itself; without its `&`.
    Row(Type),
    /// Messages; what their slice is of.
    Batch(Type),
    /// Rows; what their slice is of.
    Rows(Type),
    Extractor(Type),
}

/// As many as the runtime has a tuple for.
const MOST_ARGUMENTS: usize = 9;

impl Function {
    pub(crate) fn read(item: TokenStream, errors: &mut Errors) -> Result<Self, Reported> {
        let read = |input: ParseStream<'_>| {
            Ok(Self {
                attrs: input.call(Attribute::parse_outer)?,
                vis: input.parse()?,
                sig: input.parse()?,
                body: input.parse()?,
            })
        };
        read.parse2(item.clone()).map_err(|error| match item_keyword(item) {
            Some(keyword) => errors.report(
                keyword,
                Message::new("`#[subscriber]` goes on a function")
                    .help("write `async fn send(message: &T) -> Outcome { Outcome::ack() }`"),
            ),
            None => errors.pass_on(error),
        })
    }

    pub(crate) fn name(&self) -> &Ident {
        &self.sig.ident
    }
}

/// The keyword of an item that is no function.
fn item_keyword(item: TokenStream) -> Option<Ident> {
    const OTHERS: [&str; 9] =
        ["struct", "enum", "union", "trait", "impl", "mod", "static", "type", "use"];
    item.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if OTHERS.contains(&word.to_string().as_str()) => Some(word),
        _ => None,
    })
}

impl Handler {
    pub(crate) fn read(
        sig: &Signature,
        settings: &Settings,
        errors: &mut Errors,
    ) -> Result<Self, Reported> {
        let mark = errors.mark();
        let mut arguments = Vec::new();
        let mut message: Option<&PatType> = None;
        if let Some(one_more) = sig.inputs.iter().nth(MOST_ARGUMENTS) {
            let sentence = format!("a subscriber takes at most {MOST_ARGUMENTS} arguments");
            let help = "put values of your own into one struct: `state: State<Mailer>`";
            errors.report(one_more, Message::new(sentence).help(help));
        }
        for input in &sig.inputs {
            let argument = match input {
                FnArg::Receiver(receiver) => {
                    let message = Message::new("a subscriber is a free function, without `self`")
                        .help("take what it needs by an extractor: `state: State<Mailer>`");
                    errors.report(receiver.self_token, message);
                    continue;
                }
                FnArg::Typed(argument) => argument,
            };
            no_cfg(argument, errors);
            let read = match &*argument.ty {
                Type::Reference(reference) => {
                    if let Some(first) = message.replace(argument) {
                        errors.report(reference, second_message(first));
                        continue;
                    }
                    borrowed(reference, settings, errors)
                }
                ty => extractor(ty, settings, errors),
            };
            arguments.push(read);
        }
        errors.none_since(&mark)?;
        let arguments = arguments.into_iter().collect::<Result<_, _>>()?;
        let output = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some((**ty).clone()),
        };
        Ok(Self { arguments, output })
    }

    /// The slice that is lent to the function, if it takes one.
    pub(crate) fn slice(&self) -> Option<&Type> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::Batch(ty) | Argument::Rows(ty) => Some(ty),
            _ => None,
        })
    }

    /// Whether the function says that it can fail, as far as its words tell.
    pub(crate) fn returns_a_result(&self) -> bool {
        self.output.as_ref().and_then(last_word).is_some_and(|word| word == "Result")
    }
}

/// The last word of a path, which is what a type is called.
pub(crate) fn last_word(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        Type::Group(group) => last_word(&group.elem),
        Type::Paren(paren) => last_word(&paren.elem),
        _ => None,
    }
}

fn borrowed(
    reference: &TypeReference,
    settings: &Settings,
    errors: &mut Errors,
) -> Result<Argument, Reported> {
    let ty = &*reference.elem;
    let words = ty.to_token_stream();
    if let Some(mutable) = &reference.mutability {
        let message = Message::new("a message is read, and `&mut` would change a copy")
            .help(format!("write `&{words}`"));
        return Err(errors.report(mutable, message));
    }
    if let Some(lifetime) = &reference.lifetime {
        let message =
            Message::new("the message is borrowed for one call, and has no named lifetime")
                .help(format!("write `&{words}`"));
        return Err(errors.report(lifetime, message));
    }
    let is_row = |ty| {
        settings.row.as_ref().ok().and_then(last_word).is_some_and(|row| last_word(ty) == Some(row))
    };
    if let Type::Slice(slice) = ty {
        owned(&slice.elem, errors)?;
        let ty = (*slice.elem).clone();
        return Ok(if is_row(&slice.elem) { Argument::Rows(ty) } else { Argument::Batch(ty) });
    }
    owned(ty, errors)?;
    Ok(if is_row(ty) { Argument::Row(ty.clone()) } else { Argument::Message(ty.clone()) })
}

/// A message is decoded from a row, and lives as long as the call.
fn owned(ty: &Type, errors: &mut Errors) -> Result<(), Reported> {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => {
            let message = Message::new("a message owns its text").help("write `&String`");
            Err(errors.report(ty, message))
        }
        Type::TraitObject(_) | Type::ImplTrait(_) => {
            let message =
                Message::new("a message has one type, because it is decoded from the row")
                    .help("name the type: `message: &T`");
            Err(errors.report(ty, message))
        }
        _ => match borrows::elided(ty) {
            Some(borrow) => {
                let message =
                    Message::new("a message owns its data, and cannot borrow from the row")
                        .help("use an owned type, such as `String` for `&str`");
                Err(errors.report(borrow, message))
            }
            None => Ok(()),
        },
    }
}

fn extractor(ty: &Type, settings: &Settings, errors: &mut Errors) -> Result<Argument, Reported> {
    if let Type::ImplTrait(_) = ty {
        let message = Message::new("an argument of a subscriber has one type")
            .help("name the type, such as `Ctx<keys::Attempt>`");
        return Err(errors.report(ty, message));
    }
    if last_word(ty).is_some_and(|word| word == "Tx") {
        if let Some(reported) = settings.misread("transactional") {
            return Err(reported);
        }
        let message = Message::new("`Tx` is not there yet")
            .help("remove it, and write through a pool: `pool: State<Pool>`");
        return Err(errors.report(last_word(ty), message));
    }
    if let Some(borrow) = borrows::elided(ty) {
        let message =
            Message::new("an extractor owns its data, and cannot borrow from the delivery")
                .help("use an owned type, such as `String` for `&str`");
        return Err(errors.report(borrow, message));
    }
    Ok(Argument::Extractor(ty.clone()))
}

fn no_cfg(argument: &PatType, errors: &mut Errors) {
    for attr in &argument.attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            let message = Message::new("an argument of a subscriber is there or is not")
                .help("write the function twice, each with its own `#[cfg(..)]`");
            errors.report(attr, message);
        }
    }
}

fn second_message(first: &PatType) -> Message {
    let first = first.pat.to_token_stream();
    Message::new(format!("the message was already taken by `{first}`"))
        .help("take one by reference, and the extractors by value: `Ctx<keys::Attempt>`")
}
