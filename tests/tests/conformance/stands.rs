//! What the harness promises to every other promise.

use chrono::{DateTime, TimeDelta, Utc};
use queue_table_tests::conformance;
use queue_table_tests::database::{Db, TestDb};

conformance![
    each_test_has_a_database_of_its_own,
    every_connection_of_the_url_sees_the_same_tables,
    rows_are_read_as_they_were_written,
    the_database_has_a_clock_that_moves,
];

/// All trials make the same table at the same time.
async fn each_test_has_a_database_of_its_own<DB: Db>(db: TestDb<DB>) {
    db.execute("CREATE TABLE jobs (n integer); INSERT INTO jobs VALUES (1)").await;
    assert_eq!(db.value::<i64>("SELECT count(*) FROM jobs").await, 1);
}

async fn every_connection_of_the_url_sees_the_same_tables<DB: Db>(db: TestDb<DB>) {
    db.execute("CREATE TABLE jobs (n integer)").await;
    let other = DB::connect(db.url()).await;
    let insert = sqlx::SqlSafeStr::into_sql_str("INSERT INTO jobs VALUES (1), (2)");
    assert_eq!(DB::run(&other, insert).await.unwrap(), 2);
    assert_eq!(db.rows::<(i32,)>("SELECT n FROM jobs ORDER BY n").await, [(1,), (2,)]);
}

async fn rows_are_read_as_they_were_written<DB: Db>(db: TestDb<DB>) {
    let (id, time, bytes) = (DB::ID, DB::TIME, DB::BYTES);
    db.execute(format!("CREATE TABLE jobs (id {id}, kind text, at {time}, payload {bytes})")).await;
    db.execute(
        "INSERT INTO jobs (kind, at, payload) VALUES ('a', '2025-01-02T03:04:05.5+00:00', NULL)",
    )
    .await;
    let rows: Vec<(i64, String, DateTime<Utc>, Option<String>)> =
        db.rows("SELECT id, kind, at, payload FROM jobs").await;
    assert_eq!(rows, [(1, "a".to_owned(), "2025-01-02T03:04:05.5Z".parse().unwrap(), None)]);
}

async fn the_database_has_a_clock_that_moves<DB: Db>(db: TestDb<DB>) {
    let times = format!("SELECT {}, {}", DB::now_plus(0), DB::now_plus(-90));
    let (now, before) = db.rows::<(DateTime<Utc>, DateTime<Utc>)>(times).await[0];
    let moved = now - before;
    assert!((moved - TimeDelta::seconds(90)).abs() < TimeDelta::seconds(1), "{moved}");
}
