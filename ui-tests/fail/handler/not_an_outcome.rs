use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail")]
async fn send(job: &Job) -> Option<i64> {
    job.account_id
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
