//! `#[subscriber]`: the attribute (`attr`) and the function (`signature`) are read, must obey the
//! rules (`check`), and are then written as a function that is also a subscriber (`expand`), with the
//! facts and checks that only rustc can make (`declared`).

mod attr;
mod borrows;
mod check;
mod declared;
mod expand;
mod signature;
mod vocabulary;

use proc_macro2::TokenStream;
use quote::quote;

use crate::diagnostics::{Errors, Reported};
use attr::Settings;
use signature::{Function, Handler};

pub(crate) fn attribute(arguments: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    match subscriber(arguments, item, &mut errors) {
        // After a mistake in the attribute the function still can be mounted, so that the mistake
        // is not reported a second time by whoever mounts it. The errors are within.
        Ok(expansion) => expansion,
        Err(_) => quote!(#item #errors),
    }
}

fn subscriber(
    arguments: TokenStream,
    item: &TokenStream,
    errors: &mut Errors,
) -> Result<TokenStream, Reported> {
    let function = Function::read(item.clone(), errors)?;
    let settings = Settings::read(arguments, function.name(), errors);
    let mark = errors.mark();
    check::check_signature(&function.sig, errors);
    let handler = Handler::read(&function.sig, &settings, errors);
    let head_is_right = errors.none_since(&mark);
    check::check_settings(&settings, &function.sig, errors);
    head_is_right?;
    let handler = handler?;
    check::check_batch(&settings, &handler, errors);
    let row = settings.row.clone()?;
    Ok(expand::expand(&function, &row, &settings, &handler, errors))
}

#[cfg(test)]
pub(crate) use vocabulary::KEYS;

/// The mistakes of a subscriber as text.
#[cfg(test)]
pub(crate) fn mistakes(arguments: TokenStream, item: &TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    let _ = subscriber(arguments, item, &mut errors);
    errors.lines()
}
