//! Writes the function that stays a function, and beside it the type that the runtime mounts.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, LitInt, Type};

use super::attr::{DecodeFailure, Settings};
use super::fits;
use super::signature::{Argument, Function, Handler, last_word};

/// What the parts of an expansion have in common.
struct Expansion<'a> {
    function: &'a Function,
    row: &'a Type,
    settings: &'a Settings,
    handler: &'a Handler,
    /// The type that stands for the function.
    marker: Ident,
    cfgs: Vec<&'a Attribute>,
}

/// `checked` asks for the checks against the table, which say nothing of use after a mistake.
pub(crate) fn expand(
    function: &Function,
    row: &Type,
    settings: &Settings,
    handler: &Handler,
    checked: bool,
) -> TokenStream {
    let name = function.name();
    let expansion = Expansion {
        function,
        row,
        settings,
        handler,
        marker: format_ident!("__{}", name.unraw(), span = name.span()),
        cfgs: function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect(),
    };
    let function = expansion.function();
    let declared = expansion.declared();
    let subscribed = expansion.subscribed();
    let checks = checked.then(|| {
        let cfgs = &expansion.cfgs;
        let checks = fits::checks(row, settings);
        quote!(#(#cfgs)* #checks)
    });
    quote!(#function #declared #subscribed #checks)
}

impl Expansion<'_> {
    /// The function that users call: it has the user's function inside, and tags its future with
    /// the marker.
    fn function(&self) -> TokenStream {
        let Function { attrs, vis, sig, body } = self.function;
        let (outer, inner): (Vec<&Attribute>, Vec<&Attribute>) =
            attrs.iter().partition(|attr| is_outer(attr));
        let (name, marker) = (&sig.ident, &self.marker);
        let output = match &self.handler.output {
            Some(ty) => ty.to_token_stream(),
            None => quote!(()),
        };
        let lifetime = self.handler.takes_a_message().then(|| quote!('__m));
        let parameters = self.handler.arguments.iter().enumerate().map(|(index, argument)| {
            let name = format_ident!("__{index}");
            match argument {
                Argument::Message(ty) | Argument::Row(ty) => quote!(#name: &'__m #ty),
                Argument::Extractor(ty) => quote!(#name: #ty),
            }
        });
        let passed = (0..self.handler.arguments.len()).map(|index| format_ident!("__{index}"));
        let generics = lifetime.as_ref().map(|lifetime| quote!(<#lifetime>));
        // A body that is not `Send` is reported where its future is returned.
        let ret = quote_spanned! {at(Some(name))=>
            ::queue_table::__private::Run<
                    #marker,
                    impl ::core::future::Future<Output = #output>
                        + ::core::marker::Send + use<#lifetime>,
                >
        };
        let run = quote_spanned! {at(Some(name))=>
            ::queue_table::__private::Run::new(#name(#(#passed),*))
        };
        // A handler that waits for nothing must be async all the same.
        quote! {
            #(#outer)*
            #[allow(clippy::unused_async)]
            #vis fn #name #generics(#(#parameters),*)
                -> #ret
            {
                #(#inner)*
                #sig #body
                #run
            }
        }
    }

    fn declared(&self) -> TokenStream {
        let Self { row, settings, marker, cfgs, .. } = self;
        let vis = &self.function.vis;
        let name = self.function.name().unraw().to_string();
        let cap = match settings.max_attempts {
            Some(_) => quote!(Set),
            None => quote!(Unset),
        };
        let setters = self.setters();
        quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(non_camel_case_types, missing_debug_implementations)]
            #vis struct #marker;
            #(#cfgs)*
            #[automatically_derived]
            impl ::queue_table::__private::Declared for #marker {
                type Row = #row;
                type Cap = ::queue_table::__private::#cap;
                const DECLARATION: ::queue_table::__private::Declaration =
                    ::queue_table::__private::Declaration::new(#name) #(.#setters)*;
            }
        }
    }

    fn setters(&self) -> Vec<TokenStream> {
        let settings = self.settings;
        let mut setters = Vec::new();
        if let Some(group) = settings.group.as_ref().and_then(|given| given.value()) {
            setters.push(quote!(group(#group)));
        }
        if let Some(workers) = settings.workers.as_ref().and_then(|given| given.value()) {
            let workers = number(*workers);
            setters.push(quote!(workers(#workers)));
        }
        let durations = [
            ("poll_interval", &settings.poll_interval),
            ("lease", &settings.lease),
            ("timeout", &settings.timeout),
        ];
        for (key, given) in durations {
            if let Some(value) = given.as_ref().and_then(|given| given.value()) {
                let (key, value) = (format_ident!("{key}"), duration(*value));
                setters.push(quote!(#key(#value)));
            }
        }
        if let Some(cap) = settings.max_attempts.as_ref().and_then(|given| given.value()) {
            let cap = number(*cap);
            setters.push(quote!(max_attempts(#cap)));
        }
        if let Some(group) = settings.dead_letter.as_ref().and_then(|given| given.value()) {
            setters.push(quote!(dead_letter_group(#group)));
        }
        if let Some(answer) = settings.on_decode_failure.as_ref().and_then(|given| given.value()) {
            let answer = decode_failure(answer);
            setters.push(quote!(on_decode_failure(::queue_table::DecodeFailure::#answer)));
        }
        if settings.on_error.is_none() && self.handler.returns_a_result() {
            setters.push(quote!(can_fail()));
        }
        setters
    }

    fn subscribed(&self) -> TokenStream {
        let Self { row, marker, cfgs, .. } = self;
        let extractors: Vec<&Type> = self.handler.extractors().collect();
        let table_on = quote_spanned!(at(Some(row))=> #row: ::queue_table::TableOn<__DB>);
        // All tokens stand at the type, because rustc underlines a bound as a whole.
        let from_delivery = extractors
            .iter()
            .map(|ty| quote_spanned!(at(Some(ty))=> #ty: ::queue_table::FromDelivery<__DB, #row>));
        let cx = cx();
        let taken = self.handler.arguments.iter().enumerate().map(|(index, argument)| {
            let name = format_ident!("__{index}");
            let (ty, value) = match argument {
                // What is no message of this table is reported at the receiver.
                Argument::Message(ty) => {
                    let mut cx = cx.clone();
                    cx.set_span(cx.span().located_at(at(last_word(ty))));
                    (None, quote!(#cx.message::<#ty>()))
                }
                Argument::Row(_) => (None, quote!(#cx.row())),
                Argument::Extractor(ty) => {
                    (Some(quote!(: #ty)), quote!(::queue_table::FromDelivery::from_delivery(#cx)))
                }
            };
            quote!(let #name #ty = #value?;)
        });
        let outcome = self.outcome();
        quote! {
            #(#cfgs)*
            #[automatically_derived]
            #[allow(deprecated, unused_variables)]
            impl<__DB: ::queue_table::Backend> ::queue_table::__private::Subscribed<__DB> for #marker
            where
                #table_on,
                #(#from_delivery,)*
            {
                async fn handle(
                    #cx: &mut ::queue_table::__private::Cx<'_, __DB, #row>,
                ) -> ::core::result::Result<::queue_table::__private::Outcomes, ::queue_table::Outcome> {
                    #(#taken)*
                    ::core::result::Result::Ok(::core::convert::Into::into(#outcome))
                }
                fn needs(needs: &mut ::queue_table::__private::Needs) {
                    #(<#extractors as ::queue_table::Extractor>::needs(needs);)*
                }
            }
        }
    }

    fn outcome(&self) -> TokenStream {
        let name = self.function.name();
        let passed = self.handler.arguments.iter().enumerate().map(|(index, argument)| {
            let name = format_ident!("__{index}");
            match argument {
                Argument::Message(_) | Argument::Row(_) => quote!(&#name),
                Argument::Extractor(_) => name.to_token_stream(),
            }
        });
        let call = quote!(#name(#(#passed),*).await);
        let on_error = self.settings.on_error.as_ref();
        match (on_error.and_then(|given| given.value()), &self.handler.output) {
            (Some(on_error), _) => {
                let cx = cx();
                quote!(::queue_table::__private::outcome_or(#call, #on_error, #cx.meta()))
            }
            // The type is named, so that rustc underlines it in the signature.
            (None, Some(output)) if !is_unnameable(output) => {
                quote!(<#output as ::queue_table::IntoOutcome>::into_outcome(#call))
            }
            _ => quote!(::queue_table::__private::outcome(#call)),
        }
    }
}

/// Generated, but standing at tokens of the user's, if there are any.
fn at(tokens: Option<impl ToTokens>) -> Span {
    let span = tokens.map_or_else(Span::call_site, |tokens| tokens.span());
    Span::call_site().located_at(span)
}

/// The handler's context; hygienic, because the user's function may have this name.
fn cx() -> Ident {
    Ident::new("cx", Span::mixed_site())
}

/// Whether a type has an `impl Trait` in it, which only a signature can have.
fn is_unnameable(ty: &Type) -> bool {
    fn has_impl(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(word) => word == "impl",
            TokenTree::Group(group) => has_impl(group.stream()),
            _ => false,
        })
    }
    has_impl(ty.to_token_stream())
}

/// Whether an attribute belongs to what the caller sees; the others, such as
/// `#[tracing::instrument]`, are about the `async fn` inside.
fn is_outer(attr: &Attribute) -> bool {
    const OUTER: [&str; 7] = ["cfg", "doc", "deprecated", "must_use", "allow", "warn", "deny"];
    OUTER.iter().any(|name| attr.path().is_ident(name))
}

fn decode_failure(answer: &DecodeFailure) -> TokenStream {
    match answer {
        DecodeFailure::Drop => quote!(Drop),
        DecodeFailure::Retry => quote!(Retry),
        DecodeFailure::RetryAfter(after) => {
            let after = duration(*after);
            quote!(RetryAfter(#after))
        }
        DecodeFailure::DeadLetter(_) => quote!(DeadLetter),
    }
}

fn duration(duration: Duration) -> TokenStream {
    let milliseconds = number(duration.as_millis());
    quote!(::core::time::Duration::from_millis(#milliseconds))
}

fn number(number: impl std::fmt::Display) -> LitInt {
    LitInt::new(&number.to_string(), Span::call_site())
}
