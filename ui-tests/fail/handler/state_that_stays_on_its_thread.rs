use queue_table::prelude::*;
use queue_table_ui_tests::Job;

#[subscriber(Job, group = "mail")]
async fn send(job: &Job, State(shared): State<std::rc::Rc<i64>>) {
    let _ = (job, shared);
}

fn main() {
    queue_table_ui_tests::on_sqlite(|b| { b.mount(send); });
}
