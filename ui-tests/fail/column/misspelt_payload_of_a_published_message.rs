use queue_table::prelude::*;
use queue_table_ui_tests::Email;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job { #[queue(id)] id: i64, #[queue(locked_until)] until: Option<i64>, #[queue(paylod)] payload: Vec<u8>, account: i64 }

#[subscriber(Job)]
async fn send(email: &Email) {
    let _ = Job::message(email).set(Job::ACCOUNT, 7);
}

fn main() {}
