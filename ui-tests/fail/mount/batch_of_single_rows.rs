use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail")]
async fn send(job: &Job) {
    let _ = job;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send.batch(100)); });
}
