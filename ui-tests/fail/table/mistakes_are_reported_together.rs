use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = jobs)]
struct Job {
    #[queue(atempt)]
    attempt: i32,
    #[queue(id)]
    id: i64,
    #[queue(id)]
    other: i64,
}

fn main() {}
