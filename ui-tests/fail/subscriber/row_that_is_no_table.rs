use queue_table::prelude::*;

struct Job;

#[subscriber(Job)]
async fn send(job: &Job) {
    let _ = job;
}

fn main() {}
