//! Dead letters of a table without groups.

use queue_table::prelude::*;
use queue_table_ui_tests::{Counted, DeadCounted, on_postgres, on_sqlite};

#[subscriber(Counted, max_attempts = 5, dead_letter(table = queue_table_ui_tests::DeadCounted))]
async fn send(row: &Counted) {
    let _ = row;
}

#[subscriber(Counted, on_decode_failure = drop)]
async fn look(row: &Counted) {
    let _ = row;
}

#[subscriber(DeadCounted)]
async fn bury(row: &DeadCounted) {
    let _ = row;
}

#[test]
fn a_table_of_dead_letters_stands_in_the_attribute_or_at_the_mount() {
    on_sqlite(|b| {
        b.mount(send);
        b.mount(bury.workers(2));
    });
    on_postgres(|b| {
        b.mount(send.max_attempts(7));
        b.mount(look.max_attempts(7).dead_letter_table::<DeadCounted>());
    });
}
