//! A payload that is tied to a type, which nobody else can see.

use queue_table::prelude::*;
use queue_table_ui_tests::{on_postgres, on_sqlite};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Sms(u64);

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "texts")]
pub(crate) struct Text {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    until: Option<i64>,
    #[queue(payload = Sms)]
    payload: String,
}

#[subscriber(Text)]
async fn send(Sms(number): &Sms, Ctx(id): Ctx<keys::Id<i64>>) {
    let _ = (number, id);
}

#[subscriber(Text)]
async fn look(text: &Text) {
    let _ = &text.payload;
}

#[test]
fn its_messages_are_of_that_type() {
    let _ = (Text::message(&Sms(7)), Text::messages(&[Sms(7)]));
    on_sqlite(|b| {
        b.mount(send);
        b.mount(look);
    });
    on_postgres(|b| {
        b.mount(send);
    });
}
