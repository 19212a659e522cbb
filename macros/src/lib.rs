//! The derive and the attribute of `queue-table`, which re-exports both: depend on that crate.
//!
//! The macros record facts. They write constants, types to check, and the call of the handler; they
//! know no database, and no SQL.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod diagnostics;
mod keys;
mod queue_table;
mod spans;
mod subscriber;
#[cfg(test)]
mod tests;
mod values;

use proc_macro::TokenStream;

/// Declares that a struct is a row of a queue table.
///
/// The table stays yours: its name, its columns and its rows. The declaration says what each column
/// does for the queue. It stands beside `sqlx::FromRow`, which reads the row.
///
/// ```text
/// #[derive(QueueTable, sqlx::FromRow)]
/// #[queue_table(name = "ticks")]
/// struct Tick {
///     #[queue(id)]
///     id: i64,
///     #[queue(locked_until)]
///     locked_until: Option<DateTime<Utc>>,
/// }
/// ```
///
/// The same with everything that can be said:
///
/// ```text
/// #[derive(QueueTable, sqlx::FromRow)]
/// #[queue_table(name = "email_jobs", schema = "app")]
/// #[sqlx(rename_all = "snake_case")]
/// struct EmailJob {
///     #[queue(id)]
///     id: i64,
///     #[queue(group)]
///     kind: String,
///     #[queue(attempt)]
///     attempt: i32,
///     #[queue(retry_after)]
///     retry_after: Option<DateTime<Utc>>,
///     #[queue(locked_until)]
///     locked_until: Option<DateTime<Utc>>,
///     #[queue(processed_at)]
///     processed_at: Option<DateTime<Utc>>,
///     #[queue(last_error)]
///     #[sqlx(rename = "why")]
///     last_error: Option<String>,
///     #[queue(payload)]
///     payload: Json<Email>,
///     account_id: Option<i64>,
///     #[sqlx(skip)]
///     cached: Option<String>,
/// }
/// ```
///
/// # The table: `#[queue_table(..)]`
///
/// | key | value | without it |
/// |---|---|---|
/// | `name` | the table's name, as it stands in the database | does not compile |
/// | `schema` | the schema that the table is in | the connection's own search path decides |
///
/// A name is quoted as it is: `schema.table` in one text is one name with a dot in it.
///
/// # The columns: `#[queue(role)]`
///
/// A field has at most one role, and a role at most one field.
///
/// | role | what the column does | without it |
/// |---|---|---|
/// | `id` | the primary key, which tells rows apart | does not compile |
/// | `locked_until` | holds the lease of a row in work | a transaction locks the row while it is in work; not on every database |
/// | `group` | says which subscribers a row is for | every subscriber of the table takes every row |
/// | `attempt` | counts deliveries, from 1 | no `max_attempts`, and handlers cannot ask for the number |
/// | `retry_after` | the time before which a row is not delivered | a delay is a retry at once |
/// | `processed_at` | the time at which a row was done, which keeps it | done rows are deleted |
/// | `last_error` | why the last delivery failed | the reason is only logged |
/// | `payload` | holds the message; `payload = Email` allows no other type | a handler takes the row itself |
///
/// `fifo`, `priority` and `headers` are reserved, and not there yet.
///
/// Every other field is a *data column*: yours. For each there is a constant in its visibility,
/// `account_id` as `EmailJob::ACCOUNT_ID`, which names the column when a message is published.
///
/// # What sqlx says
///
/// A column is called as sqlx calls it: `#[sqlx(rename = "..")]` on the field,
/// `#[sqlx(rename_all = "..")]` on the struct, and without them as the field, raw names without
/// their `r#`. A field under `#[sqlx(skip)]` is no column. `#[sqlx(default)]` changes nothing here.
/// `#[sqlx(flatten)]`, `#[sqlx(try_from = "..")]` and `#[sqlx(json)]` hide the type of the column,
/// and do not compile.
///
/// # What it is good for
///
/// The struct has named fields, and no generics: a table is one row type with one set of
/// statements. The types of its id and its message are as visible as it is itself. Whether the table
/// in the database looks as declared is found out at start-up.
#[proc_macro_derive(QueueTable, attributes(queue_table, queue))]
pub fn derive_queue_table(input: TokenStream) -> TokenStream {
    queue_table::derive(input.into()).into()
}

/// Makes a subscriber of an `async fn`: the function can be mounted, and stays a function.
///
/// ```text
/// #[subscriber(Tick)]
/// async fn tick() {}
/// ```
///
/// The same with everything that can be said; without a key, the broker's setting counts:
///
/// ```text
/// #[subscriber(
///     EmailJob,
///     group = "welcome",
///     workers = 16,
///     poll_interval = "1s",
///     lease = "30s",
///     timeout = "10s",
///     max_attempts = 5,
///     dead_letter(group = "failed"),
///     on_error = settle_error,
///     on_decode_failure = retry_after("60s"),
/// )]
/// async fn send(email: &Email, attempt: Ctx<keys::Attempt>) -> Result<(), Error> {
///     smtp::send(email).await
/// }
/// ```
///
/// # The attribute
///
/// The row type stands first.
///
/// | key | value | without it |
/// |---|---|---|
/// | `group` | the group whose rows it takes; a table with a `group` column needs it | the table has no groups |
/// | `workers` | how many calls of the handler are in work at once, 1 to 1024 | `8` |
/// | `batch` | how many rows a call is given at most, 1 to 10000; the handler takes a slice | one row a call |
/// | `poll_interval` | how long an idle subscription waits before it looks again | the broker's setting |
/// | `lease` | how long a claimed row is held before it must be renewed; needs a `locked_until` column | the broker's setting |
/// | `timeout` | after how long a call is ended, which counts as a retry | handlers take their time |
/// | `max_attempts` | how many deliveries a row has; together with `dead_letter` | a row is retried for ever |
/// | `dead_letter(group = "..")` | the group that spent rows move to; together with `max_attempts` | |
/// | `dead_letter(table = ..)` | in a table without groups: the row type of the table that they move to | |
/// | `on_error` | the path of a `fn(&E, &Meta) -> Outcome`, which settles an `Err` | an `Err` is a retry |
/// | `on_decode_failure` | `drop`, `retry`, `retry_after("60s")` or `dead_letter` | `retry_after("60s")` |
///
/// Durations are a whole number and a unit in quotes: `"500ms"`, `"30s"`, `"5m"` or `"5min"`,
/// `"1h"`. `transactional` is reserved, and not there yet.
///
/// # The function
///
/// It takes, in any order, at most one message by reference, and extractors by value, at most nine
/// in all:
///
/// * `&T`, the message, decoded from the payload;
/// * `&EmailJob`, the row itself, when the type is called as the row type;
/// * `&[T]` or `&[EmailJob]`, the messages or the rows of a batch, with `batch = 100`;
/// * everything else is an extractor: `Ctx<keys::Attempt>`, `Ctx<keys::Id<i64>>`,
///   `Ctx<keys::Group>`, `Ctx<keys::Deadline>`, `Ctx<keys::Pool<DB>>`, `State<S>` and
///   `CancellationToken`.
///
/// It returns `Outcome`, `()`, or a `Result`; with a batch that is said of all rows of the call, and
/// `Vec<Outcome>` is one a row, in their order.
///
/// It can be more visible than the row type, the message and the extractors; who mounts it or calls
/// it must be able to see only its arguments, as with every function.
///
/// It stays a function: a test calls `send(&email, Ctx(1)).await`. Its comments, and attributes
/// such as `#[cfg]`, `#[deprecated]` and `#[allow]`, stay with it; all others, such as
/// `#[tracing::instrument]`, go to the `async fn` inside.
#[proc_macro_attribute]
pub fn subscriber(arguments: TokenStream, item: TokenStream) -> TokenStream {
    subscriber::attribute(arguments.into(), &item.into()).into()
}
