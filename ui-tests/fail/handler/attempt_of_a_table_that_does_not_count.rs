use queue_table::prelude::*;
use queue_table_ui_tests::Plain;

#[subscriber(Plain)]
async fn send(row: &Plain, lost: CancellationToken, Ctx(attempt): Ctx<keys::Attempt>) {
    let _ = (row, lost, attempt);
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
