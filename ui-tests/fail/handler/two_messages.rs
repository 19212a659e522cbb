use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail")]
async fn send(email: &Email, job: &Job) {
    let _ = (email, job);
}

fn main() {}
