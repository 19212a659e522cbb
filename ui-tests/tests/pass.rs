//! Declarations that are right. That they compile is most of what is tested.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[path = "../pass/all_settings.rs"]
mod all_settings;
#[path = "../pass/batches.rs"]
mod batches;
#[path = "../pass/column_names.rs"]
mod column_names;
#[path = "../pass/dead_letter_tables.rs"]
mod dead_letter_tables;
#[path = "../pass/foreign_attributes.rs"]
mod foreign_attributes;
#[path = "../pass/in_a_macro.rs"]
mod in_a_macro;
#[path = "../pass/inserts_are_send.rs"]
mod inserts_are_send;
#[path = "../pass/names_that_could_clash.rs"]
mod names_that_could_clash;
#[path = "../pass/no_implicit_prelude.rs"]
mod no_implicit_prelude;
#[path = "../pass/payload.rs"]
mod payload;
#[path = "../pass/plain_calls.rs"]
mod plain_calls;
#[path = "../pass/strict_lints.rs"]
mod strict_lints;
#[path = "../pass/visibility.rs"]
mod visibility;

/// The result of a future that never waits.
fn now<T>(future: impl IntoFuture<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future.into_future()).poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("these handlers wait for nothing"),
    }
}
