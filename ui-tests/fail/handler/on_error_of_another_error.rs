use queue_table::prelude::*;
use queue_table_ui_tests::Job;

fn settle(_: &String, _: &Meta) -> Outcome {
    Outcome::drop()
}

#[subscriber(Job, group = "mail", on_error = settle)]
async fn send(job: &Job) -> Result<(), i64> {
    Err(job.account_id.unwrap_or_default())
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
