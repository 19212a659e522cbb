use queue_table::prelude::*;
use queue_table_ui_tests::{DeadCounted, Job};

#[subscriber(Job, group = "mail")]
async fn send(row: &Job) {
    let _ = row;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send.max_attempts(5).dead_letter_table::<DeadCounted>()); });
}
