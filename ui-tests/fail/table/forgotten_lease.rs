use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
    locked_until: Option<i64>,
}

fn main() {}
