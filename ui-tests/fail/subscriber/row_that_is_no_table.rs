use queue_table::prelude::*;

struct Job { id: i64 }

#[subscriber(Job, group = "mail", max_attempts = 5, dead_letter(group = "failed"))]
async fn send(job: &Job, _: Ctx<keys::Attempt>) {
    let _ = job.id;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send.workers(2)); });
}
