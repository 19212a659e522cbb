use queue_table::prelude::*;
use queue_table_ui_tests::Plain;

#[subscriber(Plain)]
async fn send(
    _: &Plain, _: State<u8>, _: State<i8>, _: State<u16>, _: State<i16>, _: State<u32>,
    _: State<i32>, _: State<u64>, _: State<i64>, _: State<bool>,
) {
}

fn main() {}
