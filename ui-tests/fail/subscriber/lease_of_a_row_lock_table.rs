use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
}

#[subscriber(Job, lease = "30s")]
async fn send(job: &Job) {
    let _ = job;
}

fn main() {}
