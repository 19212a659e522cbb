//! Without the names that every file has by itself.
#![no_implicit_prelude]

use ::queue_table::prelude::{Ctx, QueueTable, keys, subscriber};
use ::std::option::Option;
use ::std::string::String;

#[derive(QueueTable, ::sqlx::FromRow)]
#[queue_table(name = "bare")]
struct Bare {
    #[queue(id)]
    id: i64,
    #[queue(attempt)]
    attempt: i16,
    #[queue(locked_until)]
    locked_until: Option<i64>,
    #[queue(payload)]
    payload: String,
    more: Option<bool>,
}

#[subscriber(Bare)]
async fn take(text: &String, Ctx(_): Ctx<keys::Attempt>) {
    let _ = text;
}

#[test]
fn it_can_be_mounted() {
    ::queue_table_ui_tests::on_sqlite(|b| {
        b.mount(take);
    });
}
