use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail")]
async fn send(job: &Job, again: bool) {
    let _ = (job, again);
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
