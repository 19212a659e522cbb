//! Tables without groups: spent rows go to another table.

use std::time::Duration;

use queue_table::SubscribeOptions;
use queue_table::prelude::*;
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};
use queue_table_tests::errands::{
    DeadErrand, DeadOddErrand, Errand, create_errands, publish_errands, publish_unended,
    run_errand, run_odd_errand,
};
use queue_table_tests::eventually::{eventually, stays};
use queue_table_tests::queue::{Script, Task};
use queue_table_tests::stands::Kind;

use super::{Database, broker};

conformance![
    Database:
    a_spent_row_moves_with_all_of_its_columns,
    a_row_with_odd_names_and_a_text_id_moves,
    a_dead_letter_has_deliveries_of_its_own,
    a_row_that_killed_its_process_moves_unseen,
    an_undecodable_row_moves_at_once,
    a_dead_letter_is_brought_back_by_an_insert,
    a_hundred_dead_letters_are_one_commit,
    processes_side_by_side_move_each_row_once,
    a_stream_moves_its_spent_rows_too,
    a_table_is_not_its_own_dead_letter,
];

async fn dead(db: &TestDb<Database>) -> Vec<(i64,)> {
    db.rows("SELECT id FROM dead_errands ORDER BY id").await
}

async fn left(db: &TestDb<Database>) -> i64 {
    db.value("SELECT count(*) FROM errands").await
}

async fn capped(db: &TestDb<Database>, script: &Script, attempts: u32) -> RunningService {
    let service = Service::new("test").state(script.clone()).with_broker(broker(db), |b| {
        b.mount(run_errand.max_attempts(attempts).dead_letter_table::<DeadErrand>());
    });
    service.start().await.unwrap()
}

async fn a_spent_row_moves_with_all_of_its_columns(db: TestDb<Database>) {
    create_errands(&db).await;
    publish_errands(&db, 1, 2).await;
    let script = Script::new(async |seen| match seen.n {
        1 => Outcome::retry_after(Duration::ZERO).because("no"),
        _ => Outcome::ack(),
    });
    let running = capped(&db, &script, 3).await;
    eventually("the row is a dead letter", async || dead(&db).await == [(1,)]).await;
    eventually("no row is left", async || left(&db).await == 0).await;
    running.shutdown().await.unwrap();
    let mut seen = script.seen();
    seen.sort_unstable();
    assert_eq!(seen, [(1, 1), (1, 2), (1, 3), (2, 1)]);
    type Row = (i64, Option<String>, Option<String>, String, String, String, String);
    let row: Vec<Row> = db
        .rows(
            "SELECT attempt, CAST(retry_after AS text), CAST(locked_until AS text), last_error, \
             payload, note, died FROM dead_errands",
        )
        .await;
    let [(1, None, None, reason, payload, note, died)] = &row[..] else {
        panic!("ready for n deliveries of its own: {row:?}")
    };
    assert_eq!((reason.as_str(), payload.as_str()), ("no", "{\"n\":1}"));
    assert_eq!((note.as_str(), died.as_str()), ("note 1", "now"));
}

async fn a_row_with_odd_names_and_a_text_id_moves(db: TestDb<Database>) {
    create_errands(&db).await;
    db.execute(
        "INSERT INTO \"Odd \"\"errands\"\"\" (\"select\", \"from\") \
         VALUES ('Ä\"1', 7), ('it''s', 8), ('b', 9)",
    )
    .await;
    let script = Script::new(async |seen| match seen.n {
        9 => Outcome::ack(),
        _ => Outcome::retry().because("there is no column for it"),
    });
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(run_odd_errand.max_attempts(2).dead_letter_table::<DeadOddErrand>());
    });
    let running = service.start().await.unwrap();
    let rows = "SELECT \"select\", attempt, due > 0, until, \"done \"\"at\"\"\", \"from\" \
                FROM moved ORDER BY \"from\"";
    eventually("both moved", async || {
        db.value::<i64>("SELECT count(*) FROM moved").await == 2
            && db.value::<i64>("SELECT count(*) FROM \"Odd \"\"errands\"\"\"").await == 1
    })
    .await;
    eventually("one is done", async || {
        let done = "SELECT count(*) FROM \"Odd \"\"errands\"\"\" WHERE \"done \"\"at\"\"\" > 0";
        db.value::<i64>(done).await == 1
    })
    .await;
    running.shutdown().await.unwrap();
    let is_due = match <Database as Db>::KIND {
        Kind::Postgres => serde_json::json!(true),
        Kind::Sqlite => serde_json::json!(1),
    };
    type Row = (String, i64, serde_json::Value, Option<i64>, Option<i64>, i64);
    let moved: Vec<Row> = db.rows(rows).await;
    let of = |id: &str, from| (id.to_owned(), 1, is_due.clone(), None, None, from);
    assert_eq!(moved, [of("Ä\"1", 7), of("it's", 8)], "due now, because it cannot be null");
}

/// A dead letter, of a table that no other trial wakes.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "buried_errands")]
struct Buried {
    #[queue(id)]
    id: i64,
    #[queue(attempt)]
    attempt: i32,
    #[queue(locked_until)]
    locked_until: Option<chrono::DateTime<chrono::Utc>>,
    #[queue(payload)]
    payload: Vec<u8>,
}

#[subscriber(Buried, poll_interval = "1h")]
async fn dig(
    task: &Task,
    Ctx(attempt): Ctx<keys::Attempt>,
    State(script): State<Script>,
) -> Outcome {
    let cancellation = CancellationToken::new();
    script.act(queue_table_tests::queue::Seen { n: -task.n, attempt, cancellation }).await
}

/// A dead letter of a dead letter.
#[derive(Debug, QueueTable, sqlx::FromRow)]
#[queue_table(name = "twice_dead")]
struct TwiceDead {
    #[queue(id)]
    id: i64,
    #[queue(locked_until)]
    locked_until: Option<chrono::DateTime<chrono::Utc>>,
}

async fn a_dead_letter_has_deliveries_of_its_own(db: TestDb<Database>) {
    create_errands(&db).await;
    let (id, time, bytes) = (Database::ID, Database::TIME, Database::BYTES);
    db.execute(format!(
        "ALTER TABLE dead_errands RENAME TO buried_errands; \
         CREATE TABLE twice_dead (id {id}, attempt integer, locked_until {time}, payload {bytes})"
    ))
    .await;
    let script = Script::always(Outcome::retry());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(run_errand.max_attempts(2).dead_letter_table::<Buried>());
        b.mount(dig.max_attempts(3).dead_letter_table::<TwiceDead>());
    });
    let running = service.start().await.unwrap();
    publish_errands(&db, 1, 1).await;
    let twice = "SELECT count(*) FROM twice_dead";
    eventually("it is woken at once", async || db.value::<i64>(twice).await == 1).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (1, 2), (-1, 1), (-1, 2), (-1, 3)]);
    let buried = "SELECT count(*) FROM buried_errands";
    assert_eq!((left(&db).await, db.value::<i64>(buried).await), (0, 0));
}

async fn a_row_that_killed_its_process_moves_unseen(db: TestDb<Database>) {
    create_errands(&db).await;
    // What three claims leave whose processes died: counted, and the lease ran out.
    publish_unended(&db, 1, 1, 3).await;
    publish_errands(&db, 2, 1).await;
    let script = Script::always(Outcome::ack());
    let running = capped(&db, &script, 3).await;
    eventually("the row is a dead letter", async || dead(&db).await == [(1,)]).await;
    eventually("its neighbour ran", async || script.seen() == [(2, 1)]).await;
    running.shutdown().await.unwrap();
    let (attempt, reason): (i64, String) =
        db.rows("SELECT attempt, last_error FROM dead_errands").await.remove(0);
    assert_eq!(attempt, 1);
    assert!(reason.contains("its process died"), "{reason}");
}

async fn an_undecodable_row_moves_at_once(db: TestDb<Database>) {
    create_errands(&db).await;
    publish_errands(&db, 1, 1).await;
    let nonsense = match Database::KIND {
        Kind::Postgres => "'nonsense'::bytea",
        Kind::Sqlite => "CAST('nonsense' AS blob)",
    };
    db.execute(format!("UPDATE errands SET payload = {nonsense}")).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        let errand = run_errand.max_attempts(100).dead_letter_table::<DeadErrand>();
        b.mount(errand.on_decode_failure(DecodeFailure::DeadLetter));
    });
    let running = service.start().await.unwrap();
    eventually("the row is a dead letter", async || dead(&db).await == [(1,)]).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), []);
    let payload: String = db.value("SELECT payload FROM dead_errands").await;
    assert_eq!(payload, "nonsense");
}

async fn a_dead_letter_is_brought_back_by_an_insert(db: TestDb<Database>) {
    create_errands(&db).await;
    publish_errands(&db, 1, 1).await;
    let script = Script::new(async |seen| match seen.attempt {
        1 | 2 => Outcome::retry().because("no"),
        _ => Outcome::ack(),
    });
    let running = capped(&db, &script, 2).await;
    eventually("the row is a dead letter", async || dead(&db).await == [(1,)]).await;
    let columns = "id, attempt, retry_after, locked_until, last_error, payload, note";
    db.execute(format!(
        "INSERT INTO errands ({columns}) SELECT {columns} FROM dead_errands; \
         DELETE FROM dead_errands"
    ))
    .await;
    eventually("it died again", async || dead(&db).await == [(1,)]).await;
    running.shutdown().await.unwrap();
    assert_eq!(script.seen(), [(1, 1), (1, 2), (1, 1), (1, 2)]);
    assert_eq!(db.value::<String>("SELECT note FROM dead_errands").await, "note 1");
}

/// Makes the database note, with each dead letter, which commit brought it.
async fn note_commits(db: &TestDb<Database>) {
    db.execute(match Database::KIND {
        Kind::Postgres => {
            "ALTER TABLE dead_errands ADD COLUMN by text DEFAULT pg_current_xact_id()::text"
        }
        // Rows are deleted after all of them are copied: in one commit each copy sees as many.
        Kind::Sqlite => {
            "ALTER TABLE dead_errands ADD COLUMN by bigint; \
             CREATE TRIGGER note_commit AFTER INSERT ON dead_errands BEGIN \
             UPDATE dead_errands SET by = (SELECT count(*) FROM errands) WHERE id = NEW.id; END"
        }
    })
    .await;
}

async fn a_hundred_dead_letters_are_one_commit(db: TestDb<Database>) {
    create_errands(&db).await;
    note_commits(&db).await;
    // As if each had killed its process, so that one claim decides about all of them.
    publish_unended(&db, 1, 100, 1).await;
    let script = Script::always(Outcome::ack());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        let errand = run_errand.max_attempts(1).dead_letter_table::<DeadErrand>();
        b.mount(errand.workers(100));
    });
    let running = service.start().await.unwrap();
    eventually("all are dead letters", async || dead(&db).await.len() == 100).await;
    running.shutdown().await.unwrap();
    let commits = "SELECT count(DISTINCT by) FROM dead_errands";
    assert_eq!((db.value::<i64>(commits).await, left(&db).await), (1, 0));
}

async fn processes_side_by_side_move_each_row_once(db: TestDb<Database>) {
    create_errands(&db).await;
    publish_errands(&db, 1, 500).await;
    let script = Script::new(async |seen| match seen.n % 2 {
        0 => Outcome::retry().because("even"),
        _ => Outcome::ack(),
    });
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push(capped(&db, &script, 2).await);
    }
    eventually("no row is left", async || left(&db).await == 0).await;
    stays("none comes back", Duration::from_millis(100), async || left(&db).await == 0).await;
    for running in running {
        running.shutdown().await.unwrap();
    }
    let even: Vec<_> = (1..=500).filter(|n| n % 2 == 0).map(|n| (n,)).collect();
    assert_eq!(dead(&db).await, even);
    assert_eq!(script.seen().len(), 250 + 2 * 250);
}

async fn a_stream_moves_its_spent_rows_too(db: TestDb<Database>) {
    create_errands(&db).await;
    publish_errands(&db, 1, 1).await;
    let connected = broker(&db).connect().await.unwrap();
    let options = SubscribeOptions::new().max_attempts(1).dead_letter_table::<DeadErrand>();
    let mut stream = connected.subscribe::<Errand>(options).await.unwrap();
    let delivery = stream.next().await.unwrap().unwrap();
    delivery.because("no use").retry().await.unwrap();
    assert_eq!((left(&db).await, dead(&db).await), (0, vec![(1,)]));
    drop(stream);
    connected.shutdown().await;
}

async fn a_table_is_not_its_own_dead_letter(db: TestDb<Database>) {
    create_errands(&db).await;
    publish_errands(&db, 1, 1).await;
    let script = Script::always(Outcome::retry());
    let service = Service::new("test").state(script.clone()).with_broker(broker(&db), |b| {
        b.mount(run_errand.max_attempts(1).dead_letter_table::<Errand>());
    });
    let error = service.start().await.unwrap_err().to_string();
    assert!(error.contains("name another table"), "{error}");
    assert_eq!((script.seen().len(), left(&db).await), (0, 1));
}
