use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail", batch = 100)]
async fn send(emails: &[Email]) -> Vec<bool> {
    emails.iter().map(|_| true).collect()
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
