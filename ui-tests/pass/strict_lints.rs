//! Generated code gives no warnings, however strict the crate.
#![deny(missing_docs, unused, clippy::all, clippy::pedantic)]
#![deny(missing_debug_implementations, missing_copy_implementations, unreachable_pub)]
#![deny(unused_qualifications, unused_lifetimes, single_use_lifetimes, elided_lifetimes_in_paths)]
#![deny(let_underscore_drop, explicit_outlives_requirements, unnameable_types)]

use queue_table::prelude::*;
use queue_table_ui_tests::Email;

/// A row.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "strict", schema = "app")]
struct Strict {
    #[queue(id)]
    id: i64,
    #[queue(group)]
    group: String,
    #[queue(attempt)]
    attempt: i32,
    #[queue(locked_until)]
    locked_until: Option<i64>,
    #[queue(payload)]
    payload: Vec<u8>,
    account_id: Option<i64>,
}

/// A row whose subscribers take nothing else.
#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "small")]
struct Small {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: Option<i64>,
}

/// Takes all that can be taken.
#[subscriber(Strict, group = "a", max_attempts = 5, dead_letter(group = "b"))]
async fn send(
    email: &Email,
    Ctx(attempt): Ctx<keys::Attempt>,
    state: State<String>,
) -> Result<(), String> {
    if attempt == 1 { Ok(()) } else { Err(format!("{}{}", email.to, state.0)) }
}

/// Takes a payload of a simple type.
#[subscriber(Strict, group = "c")]
async fn number(number: &u32) -> Outcome {
    Outcome::retry().because(number)
}

/// Takes a payload for which a reference is seldom written.
#[subscriber(Strict, group = "d")]
async fn text(text: &String) {
    let _ = text;
}

/// Takes nothing.
#[subscriber(Small)]
async fn tick() {}

#[test]
fn all_of_them_can_be_mounted() {
    queue_table_ui_tests::on_sqlite(|b| {
        b.mount(send);
        b.mount(number);
        b.mount(text);
        b.mount(tick);
    });
}
