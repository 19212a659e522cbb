//! Inside `macro_rules!`, where tokens come from two places.

use queue_table::prelude::*;

macro_rules! queue {
    ($row:ident, $name:literal, $payload:ty, $handler:ident($message:ident: $of:ty) $body:block) => {
        #[derive(QueueTable, sqlx::FromRow)]
        #[queue_table(name = $name)]
        pub(crate) struct $row {
            #[queue(id)]
            id: i64,
            #[queue(group)]
            group: String,
            #[queue(locked_until)]
            until: Option<i64>,
            #[queue(payload)]
            payload: $payload,
        }

        #[subscriber($row, group = $name)]
        pub(crate) async fn $handler($message: &$of, row: CancellationToken) -> Outcome {
            let _ = row;
            $body
        }
    };
}

queue!(First, "first", Vec<u8>, first(text: String) { Outcome::retry().because(text) });
queue!(Second, "second", String, second(_row: Second) { Outcome::ack() });

#[test]
fn each_has_its_own_declaration() {
    queue_table_ui_tests::on_sqlite(|b| {
        b.mount(first);
        b.mount(second);
    });
    let names = [First::TABLE.name(), Second::TABLE.name()];
    assert_eq!(names, ["first", "second"]);
}
