//! Writes the function that stays a function, and beside it the type that the runtime mounts.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Type, Visibility};

use super::attr::{DeadLetter, Settings};
use super::declared;
use super::signature::{Argument, Function, Handler};
use crate::diagnostics::Errors;
use crate::spans::at;

/// What the parts of an expansion have in common.
struct Expansion<'a> {
    function: &'a Function,
    row: &'a Type,
    settings: &'a Settings,
    handler: &'a Handler,
    /// The type that stands for the function.
    marker: Ident,
    errors: &'a Errors,
}

pub(crate) fn expand(
    function: &Function,
    row: &Type,
    settings: &Settings,
    handler: &Handler,
    errors: &Errors,
) -> TokenStream {
    let name = function.name();
    let marker = format_ident!("__{}", name.unraw(), span = name.span());
    let expansion = Expansion { function, row, settings, handler, marker, errors };
    let function = expansion.function();
    let subscriber = expansion.subscriber();
    quote!(#function #subscriber)
}

impl Expansion<'_> {
    /// The function that users call: it has the user's function inside, and marks its future.
    fn function(&self) -> TokenStream {
        let Function { attrs, vis, sig, body } = self.function;
        let (outer, inner): (Vec<&Attribute>, Vec<&Attribute>) =
            attrs.iter().partition(|attr| is_outer(attr));
        let (name, marker) = (&sig.ident, &self.marker);
        let output = match &self.handler.output {
            Some(ty) => ty.to_token_stream(),
            None => quote!(()),
        };
        let parameters = self.arguments().map(|(name, argument)| match argument {
            Argument::Message(ty) | Argument::Row(ty) => quote!(#name: &#ty),
            Argument::Batch(ty) | Argument::Rows(ty) => quote!(#name: &[#ty]),
            Argument::Extractor(ty) => quote!(#name: #ty),
        });
        let passed = self.arguments().map(|(name, _)| name);
        // The future holds the message: these tokens are of this crate's edition, in which it may. A
        // body that is not `Send` is reported where its future is returned.
        let ret = quote_spanned! {at(name.span())=>
            impl ::queue_table::Run<#marker, Output = #output>
        };
        let run = quote_spanned! {at(name.span())=>
            ::queue_table::__private::run(#name(#(#passed),*))
        };
        // A handler that waits for nothing must be async all the same.
        quote! {
            #(#outer)*
            #[allow(clippy::unused_async)]
            #vis fn #name(#(#parameters),*) -> #ret {
                #(#inner)*
                #sig #body
                #run
            }
        }
    }

    /// The function's type as others see it, and what the runtime knows of it. The latter is
    /// private, so that a subscriber can be more visible than what it takes: the generic `__H` is a
    /// way to it that rustc lets pass.
    fn subscriber(&self) -> TokenStream {
        let Self { function, marker, .. } = self;
        let vis = &function.vis;
        // Nobody else sees a private one.
        let hidden = match vis {
            Visibility::Inherited => quote!(#[allow(non_camel_case_types)]),
            _ => quote! {
                #[doc(hidden)]
                #[allow(non_camel_case_types, missing_debug_implementations)]
            },
        };
        let cfgs: Vec<&Attribute> =
            function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
        // What is written here uses what the function uses, and the function.
        let deprecated =
            function.attrs.iter().any(|attr| names(attr.to_token_stream(), "deprecated"));
        let deprecated = deprecated.then(|| quote!(#[allow(deprecated)]));
        let types = self.types();
        let Self { row, settings, handler, errors, .. } = self;
        let declaration = declared::declaration(function.name(), row, settings, handler, errors);
        let call = self.call();
        let batches = self.takes_a_batch().then(|| quote!(impl __q::TakesBatches for #marker {}));
        quote! {
            #(#cfgs)*
            #hidden
            #vis struct #marker;
            #(#cfgs)*
            #deprecated
            const _: () = {
                use ::queue_table::__private as __q;
                struct __Handler;
                impl<__H: __q::Declared> __q::Mark for #marker
                where
                    __Handler: __q::Is<It = __H>,
                {
                    type Handler = __H;
                }
                #batches
                impl __q::Declared for __Handler {
                    #types
                    const DECLARATION: __q::Declaration = #declaration;
                    #call
                }
            };
        }
    }

    /// What is wrong is a type that rustc does not know, and says no second word about.
    fn types(&self) -> TokenStream {
        let row = self.row;
        let is_a_table = match self.errors.is_empty() {
            true => quote!(__q::table::<#row>()),
            false => quote!(Self::DECLARATION.checked()),
        };
        let takes = self.handler.arguments.iter().map(|argument| match argument {
            Argument::Message(ty) => quote!(__q::Decoded<#ty>),
            Argument::Row(ty) => quote!(__q::Whole<#ty>),
            Argument::Batch(ty) => quote!(__q::Batch<#ty>),
            Argument::Rows(ty) => quote!(__q::Rows<#ty>),
            Argument::Extractor(ty) => ty.to_token_stream(),
        });
        let dead_letter = self.settings.dead_letter.as_ref().and_then(|given| given.value());
        let cap = match (&self.settings.max_attempts, dead_letter) {
            (None, _) => quote!(__q::Unset),
            (Some(_), Some(DeadLetter::Table(table))) => {
                quote!(__q::Checked<__q::InTable<#table>, { Self::DECLARATION.checked() }>)
            }
            (Some(_), _) => quote!(__q::Set),
        };
        quote! {
            type Row = __q::Checked<#row, { #is_a_table }>;
            type Takes = (#(#takes,)*);
            type Args = __q::Checked<Self::Takes, { Self::DECLARATION.checked() }>;
            type Cap = #cap;
        }
    }

    fn call(&self) -> TokenStream {
        let name = self.function.name();
        let taken = self.arguments().map(|(name, _)| name);
        let passed = self.arguments().map(|(name, argument)| match argument {
            Argument::Extractor(_) => name.to_token_stream(),
            _ => quote!(&#name),
        });
        let on_error = self.settings.on_error.as_ref().and_then(|given| given.value());
        let (outcome, outcome_or) = match self.takes_a_batch() {
            true => (quote!(outcomes), quote!(outcomes_or)),
            false => (quote!(outcome), quote!(outcome_or)),
        };
        let (meta, outcome) = match (on_error, &self.handler.output) {
            (Some(on_error), _) => {
                (quote!(__meta), quote!(__q::#outcome_or(__said, #on_error, __meta)))
            }
            // The type is named, so that rustc underlines it in the signature.
            (None, Some(output)) if !is_unnameable(output) => {
                (quote!(_), quote!(__q::#outcome::<#output>(__said)))
            }
            _ => (quote!(_), quote!(__q::#outcome(__said))),
        };
        quote! {
            async fn call(__args: Self::Args, #meta: &__q::Meta) -> __q::Outcomes {
                let (#(#taken,)*) = __args;
                let __said = #name(#(#passed),*).await;
                #outcome
            }
        }
    }

    /// Also where only one of the attribute and the function says so: that is reported already.
    fn takes_a_batch(&self) -> bool {
        self.settings.batch.is_some() || self.handler.slice().is_some()
    }

    /// The arguments, named by their places.
    fn arguments(&self) -> impl Iterator<Item = (Ident, &Argument)> {
        let arguments = self.handler.arguments.iter().enumerate();
        arguments.map(|(index, argument)| (format_ident!("_{index}"), argument))
    }
}

/// Whether a type has an `impl Trait` in it, which only a signature can have.
fn is_unnameable(ty: &Type) -> bool {
    names(ty.to_token_stream(), "impl")
}

fn names(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => names(group.stream(), word),
        _ => false,
    })
}

/// Whether an attribute belongs to what the caller sees; the others, such as
/// `#[tracing::instrument]`, are about the `async fn` inside.
fn is_outer(attr: &Attribute) -> bool {
    const OUTER: [&str; 7] = ["cfg", "doc", "deprecated", "must_use", "allow", "warn", "deny"];
    OUTER.iter().any(|name| attr.path().is_ident(name))
}
