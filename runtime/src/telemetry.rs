//! Every span and event of the crate, with its constant text and its fields.
//!
//! | name | level | fields |
//! |---|---|---|
//! | span `delivery` | info | `messaging.system`, `messaging.destination.name`, `messaging.message.id`, `messaging.operation.name`, `subscription`, `attempt` |
//! | span `batch` | info | `messaging.system`, `messaging.destination.name`, `messaging.batch.message_count`, `messaging.operation.name`, `subscription` |
//! | `lease lost` | warn | `table`, `row` |
//! | `row lock lost` | warn | `table`, `rows`, `error` |
//! | `statement without effect` | warn | `table`, `row`, `statement`, `help` |
//! | `row dead-lettered` | warn | `table`, `row`, `attempt`, `reason` |
//! | `settlement refused` | error | `table`, `row`, `statement`, `error` |
//! | `dead letter refused` | error | `table`, `dead_letters`, `row` (the first), `rows`, `error`, `help` |
//! | `claim refused` | error | `table`, `row`, `error`, `help` |
//! | `statement failed` | warn | `table`, `statement`, `error` |
//! | `row unreadable` | error | `table`, `error` |
//! | `message undecodable` | warn | `table`, `row`, `error` |
//! | `retry_after without a column` | warn | `table` |
//! | `handler panicked` | error | `table`, `row`, `reason` |
//! | `retry without a pause` | warn | `subscription`, `table` |
//! | `subscription ended` | error | `subscription`, `table`, `error` |
//! | `service draining` | info | `service` |

use std::fmt::Debug;

use tracing::{Span, error, info, info_span, warn};

pub(crate) fn delivery(
    system: &'static str,
    table: &str,
    id: &impl Debug,
    subscription: &str,
    attempt: i64,
) -> Span {
    info_span!(
        "delivery",
        messaging.system = system,
        messaging.destination.name = table,
        messaging.message.id = ?id,
        messaging.operation.name = "process",
        subscription,
        attempt
    )
}

pub(crate) fn lease_lost(table: &str, row: &impl Debug) {
    warn!(table, ?row, "lease lost");
}

pub(crate) fn without_effect(table: &str, row: &impl Debug, statement: &str) {
    warn!(
        table,
        ?row,
        statement,
        help = "the row is still owned, and the statement leaves it out again and again: look for a \
                trigger or a rule on the table that suppresses the statement, or for a session \
                that keeps the row locked",
        "statement without effect"
    );
}

pub(crate) fn batch(system: &'static str, table: &str, rows: usize, subscription: &str) -> Span {
    info_span!(
        "batch",
        messaging.system = system,
        messaging.destination.name = table,
        messaging.batch.message_count = rows,
        messaging.operation.name = "process",
        subscription
    )
}

pub(crate) fn row_lock_lost(table: &str, rows: usize, error: &sqlx::Error) {
    warn!(table, rows, %error, "row lock lost");
}

pub(crate) fn dead_lettered(table: &str, row: &impl Debug, attempt: i64, reason: Option<&str>) {
    warn!(table, ?row, attempt, reason, "row dead-lettered");
}

pub(crate) fn settlement_refused(
    table: &str,
    row: &impl Debug,
    statement: &str,
    error: &sqlx::Error,
) {
    error!(table, ?row, statement, %error, "settlement refused");
}

pub(crate) fn dead_letter_refused(
    table: &str,
    dead_letters: &str,
    row: &impl Debug,
    rows: usize,
    error: &sqlx::Error,
) {
    error!(
        table,
        dead_letters,
        ?row,
        rows,
        %error,
        help = "the table of the dead letters does not take the row, which stays in its own and is \
                tried again when its lease ends, or in a minute: mend what the error names, be it \
                a row with the same id, a check, a trigger, a permission, a missing table or a \
                full disk",
        "dead letter refused"
    );
}

pub(crate) fn claim_refused(table: &str, row: &impl Debug, error: &sqlx::Error) {
    error!(
        table,
        ?row,
        %error,
        help = "the database refuses the update that would claim this row: change the row, or the \
                check or trigger that refuses it; the other rows go on, and this one is tried \
                again in a minute",
        "claim refused"
    );
}

pub(crate) fn statement_failed(table: &str, statement: &str, error: &sqlx::Error) {
    warn!(table, statement, %error, "statement failed");
}

pub(crate) fn row_unreadable(table: &str, error: &sqlx::Error) {
    error!(table, %error, "row unreadable");
}

pub(crate) fn message_undecodable(table: &str, row: &impl Debug, error: &str) {
    warn!(table, ?row, error, "message undecodable");
}

pub(crate) fn retry_after_without_column(table: &str) {
    warn!(table, "retry_after without a column");
}

pub(crate) fn handler_panicked(table: &str, row: &impl Debug, reason: &str) {
    error!(table, ?row, reason, "handler panicked");
}

pub(crate) fn retry_without_pause(subscription: &str, table: &str) {
    warn!(
        subscription,
        table,
        help = "a row whose handler returns `Err` comes back at once, for ever: add \
                `on_error = path` or `max_attempts = 5, dead_letter(group = \"failed\")`",
        "retry without a pause"
    );
}

pub(crate) fn subscription_ended(subscription: &str, table: &str, error: &sqlx::Error) {
    error!(subscription, table, %error, "subscription ended");
}

pub(crate) fn service_draining(service: &str) {
    info!(service, "service draining");
}
