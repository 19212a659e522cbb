//! What each outcome writes, by the columns that there are, and that it writes nothing else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use queue_table::Mounts;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use serde_json::{Value, json};

use super::queue::{Script, Seen};
use super::{Database, broker};

conformance![
    Database:
    a_table_of_ids_has_nothing_to_write,
    a_count_is_one_more_with_each_retry,
    a_delay_is_written_where_it_has_a_column,
    a_reason_is_written_where_it_has_a_column,
    a_done_row_is_kept_where_it_has_a_column,
    a_table_with_every_column_writes_each,
];

/// A table of an id and these columns, each called as its role, and its subscriber.
macro_rules! table {
    ($module:ident: $($role:ident $ty:ty),*) => {
        mod $module {
            use super::*;

            #[derive(Debug, QueueTable, sqlx::FromRow)]
            #[queue_table(name = "jobs")]
            pub(super) struct Job {
                #[queue(id)]
                id: i64,
                $(#[queue($role)] $role: $ty,)*
            }

            #[subscriber(Job, poll_interval = "50ms")]
            pub(super) async fn work(row: &Job, State(script): State<Script>) -> Outcome {
                script.act(Seen { n: row.id, attempt: 1, cancellation: CancellationToken::new() }).await
            }
        }
    };
}

table!(bare:);
table!(counting: attempt i32);
table!(delaying: retry_after Option<DateTime<Utc>>);
table!(explaining: last_error Option<String>);
table!(keeping: processed_at Option<DateTime<Utc>>);
table!(full: attempt i32, retry_after Option<DateTime<Utc>>, last_error Option<String>,
    processed_at Option<DateTime<Utc>>);

/// What became of a row that was settled once.
#[derive(Debug)]
struct Settled {
    /// The row; nothing if it is gone.
    row: Option<Value>,
    /// It is still the version that was inserted: nothing was written.
    is_as_before: bool,
}

impl Settled {
    fn value(&self, column: &str) -> Value {
        self.row.as_ref().unwrap()[column].clone()
    }
}

/// Settles a row with an outcome, in a table of an id and `columns`.
async fn settled(
    db: &TestDb<Database>,
    columns: &str,
    mount: impl FnOnce(&mut Mounts<Database>),
    outcome: Outcome,
) -> Settled {
    let ddl = format!("CREATE TABLE jobs (id bigint PRIMARY KEY {columns})");
    db.execute(format!("DROP TABLE IF EXISTS jobs; {ddl}; INSERT INTO jobs (id) VALUES (1)")).await;
    let row = "SELECT to_jsonb(jobs), xmin::text || ctid::text FROM jobs";
    let before: Vec<(Value, String)> = db.rows(row).await;
    let first = AtomicBool::new(true);
    let script = Script::new(move |_| {
        let said = first.swap(false, Ordering::SeqCst).then(|| outcome.clone());
        async move {
            match said {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        }
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), mount);
    let running = service.drain_timeout(Duration::ZERO).start().await.unwrap();
    eventually("the delivery", async || !script.seen().is_empty()).await;
    running.shutdown().await.unwrap();
    let mut after: Vec<(Value, String)> = db.rows(row).await;
    let is_as_before = after == before;
    Settled { row: after.pop().map(|(row, _)| row), is_as_before }
}

const HOUR: Duration = Duration::from_secs(3600);

async fn a_table_of_ids_has_nothing_to_write(db: TestDb<Database>) {
    let settled = async |outcome| settled(&db, "", |b| b.mount(bare::work), outcome).await;
    for end in [Outcome::ack(), Outcome::drop()] {
        assert_eq!(settled(end).await.row, None);
    }
    for retry in [Outcome::retry(), Outcome::retry().because("why"), Outcome::retry_after(HOUR)] {
        assert!(settled(retry.clone()).await.is_as_before, "{retry:?} is rolled back");
    }
}

async fn a_count_is_one_more_with_each_retry(db: TestDb<Database>) {
    let columns = ", attempt integer NOT NULL DEFAULT 1";
    let settled = async |outcome| settled(&db, columns, |b| b.mount(counting::work), outcome).await;
    assert_eq!(settled(Outcome::ack()).await.row, None);
    for retry in [Outcome::retry(), Outcome::retry_after(HOUR)] {
        assert_eq!(settled(retry).await.row, Some(json!({"id": 1, "attempt": 2})));
    }
}

async fn a_delay_is_written_where_it_has_a_column(db: TestDb<Database>) {
    let columns = ", retry_after timestamptz";
    let settled = async |outcome| settled(&db, columns, |b| b.mount(delaying::work), outcome).await;
    assert_eq!(settled(Outcome::drop()).await.row, None);
    assert!(settled(Outcome::retry().because("why")).await.is_as_before, "it is rolled back");
    let delayed = settled(Outcome::retry_after(HOUR)).await;
    is_in_an_hour(&delayed.value("retry_after"));
}

/// A time that was written a moment ago.
fn is_in_an_hour(time: &Value) {
    let time: DateTime<Utc> = time.as_str().unwrap().parse().unwrap();
    let seconds = (time - Utc::now()).num_seconds();
    assert!((3500..=3700).contains(&seconds), "in {seconds} seconds");
}

async fn a_reason_is_written_where_it_has_a_column(db: TestDb<Database>) {
    let columns = ", last_error text";
    let settled =
        async |outcome| settled(&db, columns, |b| b.mount(explaining::work), outcome).await;
    assert_eq!(settled(Outcome::ack().because("why")).await.row, None);
    for retry in [Outcome::retry(), Outcome::retry_after(HOUR)] {
        let row = settled(retry.because("why")).await.row;
        assert_eq!(row, Some(json!({"id": 1, "last_error": "why"})));
    }
    let row = settled(Outcome::retry()).await.row;
    assert_eq!(row, Some(json!({"id": 1, "last_error": null})), "nobody said why");
}

async fn a_done_row_is_kept_where_it_has_a_column(db: TestDb<Database>) {
    let columns = ", processed_at timestamptz";
    let settled = async |outcome| settled(&db, columns, |b| b.mount(keeping::work), outcome).await;
    for end in [Outcome::ack(), Outcome::drop()] {
        let done = settled(end).await.value("processed_at");
        assert!(done.is_string(), "{done}");
    }
    assert!(settled(Outcome::retry_after(HOUR)).await.is_as_before, "it is rolled back");
}

async fn a_table_with_every_column_writes_each(db: TestDb<Database>) {
    let columns = ", attempt integer NOT NULL DEFAULT 1, retry_after timestamptz, last_error text, \
         processed_at timestamptz";
    let settled = async |outcome| settled(&db, columns, |b| b.mount(full::work), outcome).await;
    let done = settled(Outcome::drop().because("of no use")).await;
    assert!(done.value("processed_at").is_string());
    assert_eq!(done.value("attempt"), 1, "a row that is done was not retried");
    let retried = settled(Outcome::retry().because("why")).await.row;
    let expected = json!({
        "id": 1, "attempt": 2, "retry_after": null, "last_error": "why", "processed_at": null
    });
    assert_eq!(retried, Some(expected));
    let delayed = settled(Outcome::retry_after(HOUR).because("why")).await;
    is_in_an_hour(&delayed.value("retry_after"));
    let (attempt, reason) = (delayed.value("attempt"), delayed.value("last_error"));
    assert_eq!((attempt, reason), (json!(2), json!("why")));
}
