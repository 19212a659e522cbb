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
    let lease = std::time::Duration::from_secs(30);
    queue_table_ui_tests::on_postgres(|b| { b.mount(send.lease(lease)); });
}
