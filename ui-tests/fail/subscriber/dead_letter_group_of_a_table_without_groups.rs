use queue_table::prelude::*;
use queue_table_ui_tests::Counted;

#[subscriber(Counted, max_attempts = 5, dead_letter(group = "failed"))]
async fn send(row: &Counted) {
    let _ = row;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
