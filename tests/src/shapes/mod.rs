//! The shapes of table that a declaration can have, for the tests of their SQL.
//!
//! The table of a shape stands in `tests/sql/<database>/<shape>/table.sql`, written by hand, and that
//! of its dead letters in `dead_letters.sql`; beside them stands every statement that the queue sends to it, written by the dialect.

mod statements;

use chrono::{DateTime, Utc};
use queue_table::__private::lease::{Clock, Insert};
use queue_table::{Column, TableDescriptor};

pub use statements::{Rendered, rendered};

type Time = DateTime<Utc>;

/// A table, and the inserts that are made into it. Its data columns are texts.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The folder of its statements.
    pub name: &'static str,
    /// The shape whose table it has.
    pub table_of: &'static str,
    /// What the derive would record of it.
    pub table: TableDescriptor,
    /// The table of its dead letters, for the statements that move rows there. A dialect does not
    /// ask whether a table has groups, so that a few shapes show all of them.
    pub dead: Option<TableDescriptor>,
    /// Whose clock its statements ask.
    pub clock: Clock,
    /// The type of its primary key, as a server must be told it.
    pub id: &'static str,
    /// The index that its claims walk in order.
    pub ready: &'static str,
    /// Inserts, each with its name.
    pub inserts: Vec<(&'static str, Insert)>,
}

impl Shape {
    fn new(
        name: &'static str,
        table: TableDescriptor,
        ready: &'static str,
        inserts: Vec<(&'static str, Insert)>,
    ) -> Self {
        let (clock, id) = (Clock::Database, "bigint");
        Self { name, table_of: name, table, dead: None, clock, id, ready, inserts }
    }

    /// The same, with a table for its dead letters.
    fn buried_in(self, dead: TableDescriptor) -> Self {
        Self { dead: Some(dead), ..self }
    }
}

/// Every role, and times of the database's own; done rows are kept.
const EVERY_ROLE: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<i64>("id"),
        Column::group::<String>("kind"),
        Column::attempt::<i32>("attempt"),
        Column::retry_after::<Option<Time>>("retry_after"),
        Column::locked_until::<Option<Time>>("locked_until"),
        Column::processed_at::<Option<Time>>("processed_at"),
        Column::last_error::<Option<String>>("last_error"),
        Column::payload::<Vec<u8>>("payload"),
        Column::data::<Option<String>>("note"),
    ],
);

/// The same, and done rows are deleted.
const DELETES: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<i64>("id"),
        Column::group::<String>("kind"),
        Column::attempt::<i32>("attempt"),
        Column::retry_after::<Option<Time>>("retry_after"),
        Column::locked_until::<Option<Time>>("locked_until"),
        Column::last_error::<Option<String>>("last_error"),
        Column::payload::<Vec<u8>>("payload"),
    ],
);

/// Only what must be there, with times in microseconds.
const FEWEST_ROLES: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<String>("id"),
        Column::locked_until::<Option<i64>>("locked_until"),
        Column::data::<String>("note"),
    ],
);

/// Done rows are kept, and a delay is never null.
const KEEPS: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<i64>("id"),
        Column::group::<String>("kind"),
        Column::attempt::<i16>("attempt"),
        Column::retry_after::<i64>("due"),
        Column::locked_until::<Option<i64>>("locked_until"),
        Column::processed_at::<Option<i64>>("done"),
        Column::data::<String>("note"),
    ],
);

/// One queue a table.
const NO_GROUP: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<i64>("id"),
        Column::attempt::<i64>("attempt"),
        Column::retry_after::<Option<i64>>("retry_after"),
        Column::locked_until::<Option<i64>>("locked_until"),
        Column::payload::<String>("payload"),
    ],
);

/// Deliveries are not counted.
const NO_ATTEMPT: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<i64>("id"),
        Column::group::<String>("kind"),
        Column::retry_after::<Time>("retry_after"),
        Column::locked_until::<Option<Time>>("locked_until"),
        Column::payload::<String>("payload"),
    ],
);

/// Rows cannot be put off.
const NO_DELAY: TableDescriptor = TableDescriptor::new(
    "jobs",
    &[
        Column::id::<i64>("id"),
        Column::group::<String>("kind"),
        Column::attempt::<i16>("attempt"),
        Column::locked_until::<Option<Time>>("locked_until"),
        Column::last_error::<Option<String>>("last_error"),
        Column::payload::<Vec<u8>>("payload"),
    ],
);

/// Names that are wrong without their quotes, or look like something else in them.
const QUOTED_NAMES: TableDescriptor = TableDescriptor::new(
    "order",
    &[
        Column::id::<i64>("select"),
        Column::group::<String>("group"),
        Column::attempt::<i32>("Attempt"),
        Column::retry_after::<Option<Time>>("not :before"),
        Column::locked_until::<Option<Time>>("say \"when\""),
        Column::last_error::<Option<String>>("it's"),
        Column::payload::<Vec<u8>>("a::b"),
        Column::data::<Option<String>>("from"),
    ],
)
.schema("my \"queue\"");

/// Names that the statements use themselves, each for something else.
const BORROWED_NAMES: TableDescriptor = TableDescriptor::new(
    "u",
    &[
        Column::id::<i64>("token"),
        Column::group::<String>("id"),
        Column::attempt::<i32>("due"),
        Column::retry_after::<Option<i64>>("attempt"),
        Column::locked_until::<Option<i64>>("reason"),
        Column::last_error::<Option<String>>("n"),
        Column::payload::<String>("next"),
        Column::data::<String>("payload"),
    ],
);

/// A delay of the dead letters is never null.
const DEAD_WITH_DELAYS: TableDescriptor = TableDescriptor::new(
    "dead_jobs",
    &[
        Column::id::<i64>("id"),
        Column::attempt::<i64>("attempt"),
        Column::retry_after::<i64>("retry_after"),
        Column::locked_until::<Option<i64>>("locked_until"),
        Column::payload::<String>("payload"),
    ],
);

/// Every shape, in the order of the list above.
#[must_use]
pub fn shapes() -> Vec<Shape> {
    let fresh = Insert { group: true, payload: true, ..Insert::default() };
    let later = Insert { delay: true, ..fresh.clone() };
    let each = |name| vec![(name, true)];
    let noted = |name| vec![(name, false)];
    let every_role = Shape::new(
        "every_role",
        EVERY_ROLE,
        "jobs_ready",
        vec![
            ("fresh", fresh.clone()),
            ("later", later.clone()),
            ("with_id", Insert { id: true, ..fresh.clone() }),
            ("with_one_note", Insert { data: noted("note"), ..fresh.clone() }),
            ("with_all", Insert { id: true, data: each("note"), ..later.clone() }),
        ],
    );
    let every_role = every_role.buried_in(TableDescriptor::new("dead_jobs", EVERY_ROLE.columns()));
    let moved_clock = Shape {
        name: "moved_clock",
        clock: Clock::Shifted,
        inserts: vec![("later", later.clone())],
        ..every_role.clone()
    };
    let rows_alone = Insert { id: true, data: each("note"), ..Insert::default() };
    let fewest_roles =
        Shape::new("fewest_roles", FEWEST_ROLES, "jobs_pkey", vec![("with_id", rows_alone)]);
    let kept = Insert { group: true, data: each("note"), ..Insert::default() };
    let kept_later = Insert { delay: true, ..kept.clone() };
    let quoted = Insert { data: each("from"), ..later.clone() };
    vec![
        every_role,
        Shape::new("deletes", DELETES, "jobs_ready", vec![("fresh", fresh.clone())]),
        Shape { id: "text", ..fewest_roles }
            .buried_in(TableDescriptor::new("dead_jobs", FEWEST_ROLES.columns())),
        Shape::new("keeps", KEEPS, "jobs_ready", vec![("fresh", kept), ("later", kept_later)]),
        Shape::new(
            "no_group",
            NO_GROUP,
            "jobs_ready",
            vec![("fresh", Insert { payload: true, ..Insert::default() })],
        )
        .buried_in(DEAD_WITH_DELAYS),
        Shape::new("no_attempt", NO_ATTEMPT, "jobs_ready", vec![("later", later.clone())]),
        Shape::new("no_delay", NO_DELAY, "jobs_ready", vec![("fresh", fresh)]),
        Shape::new("quoted_names", QUOTED_NAMES, "it's ready", vec![("with_note", quoted)])
            .buried_in(TableDescriptor::new("dead :order", QUOTED_NAMES.columns()).schema("it's")),
        Shape::new(
            "borrowed_names",
            BORROWED_NAMES,
            "w",
            vec![("with_note", Insert { data: each("payload"), ..later.clone() })],
        )
        // What a statement calls the rows that it moves.
        .buried_in(TableDescriptor::new("moved", BORROWED_NAMES.columns())),
        moved_clock,
    ]
}

/// The shape of this name.
#[must_use]
pub fn shape(name: &str) -> Shape {
    let found = shapes().into_iter().find(|shape| shape.name == name);
    found.unwrap_or_else(|| panic!("there is no shape `{name}`"))
}
