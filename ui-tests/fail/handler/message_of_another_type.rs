use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail")]
async fn send(email: &Vec<u32>) {
    let _ = email;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
