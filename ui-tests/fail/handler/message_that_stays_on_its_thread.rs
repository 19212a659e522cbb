use queue_table::prelude::*;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "jobs")]
struct Job {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    until: Option<i64>,
    #[queue(payload)]
    payload: Vec<u8>,
}

#[derive(serde::Deserialize)]
struct Email {
    #[serde(skip)]
    shared: std::rc::Rc<i64>,
}

#[subscriber(Job)]
async fn send(email: &Email) {
    let _ = &email.shared;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
