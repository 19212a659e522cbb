use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail", batch = 100)]
async fn send(emails: &[Email], Ctx(attempt): Ctx<keys::Attempt>) {
    let _ = (emails, attempt);
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
