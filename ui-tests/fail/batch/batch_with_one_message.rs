use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail", batch = 100)]
async fn send(email: &Email) -> Vec<Outcome> {
    let _ = email;
    Vec::new()
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send.batch(50)); });
}
