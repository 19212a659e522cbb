use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail")]
async fn send(email: Email) {
    let _ = email;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
