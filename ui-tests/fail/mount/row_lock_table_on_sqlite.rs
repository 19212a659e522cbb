use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
}

#[subscriber(Job)]
async fn send(job: &Job) {
    let _ = job;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
