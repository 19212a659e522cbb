use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail", batch = 100)]
async fn send(jobs: &[Job]) {
    let _ = jobs;
}

fn main() {}
