use queue_table::prelude::*;
use queue_table_ui_tests::Counted;

#[derive(QueueTable, sqlx::FromRow)]
#[queue_table(name = "dead")]
struct Dead { #[queue(id)] id: i64, #[queue(locked_until)] until: Option<i64>, tags: Vec<String> }

#[subscriber(Counted, max_attempts = 5, dead_letter(table = Dead))]
async fn send(row: &Counted) {
    let _ = row;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
