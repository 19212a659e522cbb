use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail", batch = 0)]
async fn send(emails: &[Email]) {
    let _ = emails;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
