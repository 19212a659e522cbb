use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail")]
async fn send(emails: &[Email]) -> Vec<Outcome> {
    emails.iter().map(|_| Outcome::ack()).collect()
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send.batch(50)); });
}
