use queue_table::prelude::*;

struct Job { id: i64 }

#[subscriber(Job, wokers = 2)]
async fn send(job: &Job, again: bool) {
    let _ = (job.id, again);
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
