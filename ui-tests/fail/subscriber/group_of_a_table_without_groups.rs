use queue_table::prelude::*;
use queue_table_ui_tests::Plain;

#[subscriber(Plain, group = "mail")]
async fn send(row: &Plain) {
    let _ = row;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
