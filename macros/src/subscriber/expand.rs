//! Writes the function that stays a function, and beside it the type that the runtime mounts.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, LitInt, Type};

use super::attr::{DecodeFailure, Settings};
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
    let checks = checked.then(|| expansion.checks());
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
        // A body that is not `Send` is reported here, and so at the function's name.
        let future = quote_spanned! {Span::call_site().located_at(name.span())=>
            impl ::core::future::Future<Output = #output> + ::core::marker::Send + use<#lifetime>
        };
        quote! {
            #(#outer)*
            #vis fn #name #generics(#(#parameters),*)
                -> ::queue_table::__private::Run<#marker, #future>
            {
                #(#inner)*
                #sig #body
                ::queue_table::__private::Run::new(#name(#(#passed),*))
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
        let taken = self.handler.arguments.iter().enumerate().map(|(index, argument)| {
            let name = format_ident!("__{index}");
            let (ty, value) = match argument {
                Argument::Message(ty) => (None, quote!(cx.message::<#ty>())),
                Argument::Row(_) => (None, quote!(cx.row())),
                Argument::Extractor(ty) => {
                    (Some(quote!(: #ty)), quote!(::queue_table::FromDelivery::from_delivery(cx)))
                }
            };
            quote! {
                let #name #ty = match #value {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(outcome) => return outcome,
                };
            }
        });
        let outcome = self.outcome();
        quote! {
            #(#cfgs)*
            #[automatically_derived]
            #[allow(deprecated, unused_variables)]
            impl<__DB: ::queue_table::Backend> ::queue_table::__private::Subscribed<__DB> for #marker
            where
                #row: ::queue_table::TableOn<__DB>,
                #(#extractors: ::queue_table::FromDelivery<__DB, #row>,)*
            {
                async fn handle(
                    cx: &mut ::queue_table::__private::Cx<'_, __DB, #row>,
                ) -> ::queue_table::Outcome {
                    #(#taken)*
                    #outcome
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
        match self.settings.on_error.as_ref().and_then(|given| given.value()) {
            Some(on_error) => {
                quote!(::queue_table::__private::outcome_or(#call, #on_error, cx.meta()))
            }
            None => quote!(::queue_table::__private::outcome(#call)),
        }
    }

    /// What can be checked without a database. Each check is a call whose tokens stand at what the
    /// user has to change, so that rustc underlines that; the functions' names are part of what it
    /// prints.
    fn checks(&self) -> TokenStream {
        let Self { row, settings, handler, cfgs, .. } = self;
        let mut checks = Vec::new();
        if let Some(cap) = &settings.max_attempts {
            let call = check("a_column_that_counts_attempts", row, cap.key.span());
            checks.push(quote! {
                fn a_column_that_counts_attempts<T: ::queue_table::__private::CountsAttempts>() {}
                #call
            });
        }
        match &settings.group {
            Some(group) => {
                let call = check("a_group_column", row, group.key.span());
                checks.push(quote! {
                    fn a_group_column<T: ::queue_table::__private::Grouped>() {}
                    #call
                });
            }
            None => checks.push(quote! {
                fn no_group_column<T: ::queue_table::__private::Ungrouped>() {}
                no_group_column::<#row>();
            }),
        }
        if let Some(message) = handler.message() {
            let at = last_word(message).map_or_else(Span::call_site, Ident::span);
            let row = respanned(row.to_token_stream(), at);
            checks.push(quote! {
                fn a_payload<T: ::queue_table::__private::Carries<M>, M>() {}
                a_payload::<#row, #message>();
            });
        }
        let extractors: Vec<&Type> = handler.extractors().collect();
        if !extractors.is_empty() {
            checks.push(quote! {
                fn an_extractor<T: ::queue_table::Extractor>() {}
                #(an_extractor::<#extractors>();)*
            });
        }
        if let (Some(output), None) = (&handler.output, &settings.on_error) {
            checks.push(quote! {
                fn an_outcome<T: ::queue_table::IntoOutcome>() {}
                an_outcome::<#output>();
            });
        }
        quote! {
            #(#cfgs)*
            const _: fn() = || {
                #(#checks)*
            };
        }
    }
}

/// Whether an attribute belongs to what the caller sees; the others, such as
/// `#[tracing::instrument]`, are about the `async fn` inside.
fn is_outer(attr: &Attribute) -> bool {
    const OUTER: [&str; 7] = ["cfg", "doc", "deprecated", "must_use", "allow", "warn", "deny"];
    OUTER.iter().any(|name| attr.path().is_ident(name))
}

fn check(function: &str, row: &Type, at: Span) -> TokenStream {
    let function = Ident::new(function, Span::call_site().located_at(at));
    let row = respanned(row.to_token_stream(), at);
    quote_spanned!(Span::call_site().located_at(at)=> #function::<#row>();)
}

/// The same tokens, standing somewhere else.
fn respanned(tokens: TokenStream, at: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            let inner = respanned(group.stream(), at);
            token = proc_macro2::Group::new(group.delimiter(), inner).into();
        }
        token.set_span(token.span().located_at(at));
        token
    });
    respanned.collect()
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
