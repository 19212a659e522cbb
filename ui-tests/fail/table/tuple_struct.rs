use queue_table::prelude::*;

#[derive(QueueTable)]
#[queue_table(name = "jobs")]
struct Job(i64, Option<i64>);

fn main() {}
