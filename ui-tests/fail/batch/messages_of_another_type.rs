use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail", batch = 100)]
async fn send(words: &[String]) {
    let _ = words;
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
