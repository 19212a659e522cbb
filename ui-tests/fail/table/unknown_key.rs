use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(nmae = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: Option<i64>,
}

fn main() {}
