use queue_table::prelude::*;

#[derive(QueueTable)]
#[queue_table(name = "jobs")]
struct Job<T> {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: Option<i64>,
    more: T,
}

fn main() {}
