use queue_table::prelude::*;
use queue_table_ui_tests::Email;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    until: Option<i64>,
    #[queue(payload)]
    email: Email,
}

#[subscriber(Job)]
async fn send(email: &Email) {
    let _ = email;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
