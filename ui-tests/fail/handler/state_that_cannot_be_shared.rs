use queue_table::prelude::*;
use queue_table_ui_tests::Job;

struct Mailer;

#[subscriber(Job, group = "mail")]
async fn send(job: &Job, State(mailer): State<Mailer>) {
    let _ = (job, mailer);
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
