//! Names of the user's that generated code uses too.
#![allow(non_upper_case_globals, reason = "a name that could clash")]

use queue_table::prelude::*;
use queue_table_ui_tests::Job;

mod core {}
mod std {}
mod queue_table_macros {}

struct Result;
struct Ok;
struct Send;
struct Future;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "clashes")]
struct Row {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: ::std::option::Option<i64>,
    table: i64,
    #[sqlx(rename = "self")]
    this: i64,
}

#[subscriber(Row)]
async fn cx(row: &Row, again: CancellationToken) -> Outcome {
    let (Result, Ok, Send, Future) = (Result, Ok, Send, Future);
    if row.table == row.this {
        Box::pin(cx(row, again).into_future()).await
    } else {
        Outcome::ack()
    }
}

#[subscriber(Job, group = "a")]
async fn value(value: &Job) {
    let _ = value;
}

#[subscriber(Job, group = "b")]
async fn outcome(cx: CancellationToken, outcome: &Job) -> Outcome {
    let _ = outcome;
    Outcome::retry().because(cx.is_cancelled())
}

#[subscriber(Job, group = "c")]
async fn r#match(job: &Job) {
    // A local variable can be called as a subscriber.
    let value = job;
    let _ = value;
}

#[test]
fn all_of_them_can_be_mounted() {
    queue_table_ui_tests::on_sqlite(|b| {
        b.mount(cx);
        b.mount(value);
        b.mount(outcome);
        b.mount(r#match);
    });
    let row = Row { id: 1, locked_until: None, table: 2, this: 3 };
    assert_eq!(super::now(cx(&row, CancellationToken::new())), Outcome::ack());
    assert_eq!(row.id, 1);
}
