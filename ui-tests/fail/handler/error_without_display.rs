use queue_table::prelude::*;
use queue_table_ui_tests::Job;

struct Refused;

#[subscriber(Job, group = "mail")]
async fn send(job: &Job) -> Result<(), Refused> {
    job.account_id.map(drop).ok_or(Refused)
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
