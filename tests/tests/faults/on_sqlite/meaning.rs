//! What SQLite's errors mean, as they come.

use std::time::Duration;

use queue_table::__private::Fault;
use queue_table::Backend;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::queue::create_tables;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, SqlSafeStr};

use super::Database;

conformance![
    Database:
    what_is_missing_stops_a_subscription,
    what_a_row_breaks_costs_that_row_alone,
    what_another_writer_holds_up_is_sent_again,
    what_nobody_may_write_stops_a_subscription,
];

/// An error of a statement, and what it means.
async fn fault(connection: &mut SqliteConnection, sql: &'static str) -> Fault {
    match sqlx::raw_sql(sql.into_sql_str()).execute(connection).await {
        Ok(_) => panic!("it ran: {sql}"),
        Err(error) => Database::fault(&error),
    }
}

async fn each_means(db: &TestDb<Database>, statements: &[&'static str], meaning: Fault) {
    let mut connection = db.pool().acquire().await.unwrap();
    for sql in statements {
        assert_eq!(fault(&mut connection, sql).await, meaning, "{sql}");
    }
}

fn options(db: &TestDb<Database>) -> SqliteConnectOptions {
    let options: SqliteConnectOptions = db.url().parse().unwrap();
    options.busy_timeout(Duration::ZERO)
}

async fn what_is_missing_stops_a_subscription(db: TestDb<Database>) {
    create_tables(&db).await;
    db.execute(
        "CREATE TABLE logged (id integer); CREATE TRIGGER log BEFORE DELETE ON logged \
         BEGIN INSERT INTO nowhere VALUES (OLD.id); END; INSERT INTO logged VALUES (1)",
    )
    .await;
    let statements = [
        "DELETE FROM nowhere",
        "SELECT absent FROM jobs",
        "UPDATE jobs SET absent = 1",
        "INSERT INTO jobs (absent) VALUES (1)",
        "SELECT absent(id) FROM jobs",
        "DELETE FROM logged",
    ];
    each_means(&db, &statements, Fault::Schema).await;
}

async fn what_a_row_breaks_costs_that_row_alone(db: TestDb<Database>) {
    db.execute(
        "CREATE TABLE parents (id integer PRIMARY KEY, n integer NOT NULL CHECK (n < 9)); \
         CREATE TABLE children (parent integer REFERENCES parents (id)); \
         CREATE TRIGGER refuse BEFORE UPDATE ON parents \
         BEGIN SELECT RAISE(ABORT, 'no such luck'); END; \
         INSERT INTO parents VALUES (1, 1); INSERT INTO children VALUES (1)",
    )
    .await;
    let statements = [
        "INSERT INTO parents VALUES (1, 1)",
        "INSERT INTO parents VALUES (2, NULL)",
        "INSERT INTO parents VALUES (2, 9)",
        "INSERT INTO parents VALUES ('two', 1)",
        "INSERT INTO children VALUES (2)",
        "DELETE FROM parents",
        "UPDATE parents SET n = 2",
        "SELECT json('{')",
        "SELECT abs(-9223372036854775808)",
    ];
    each_means(&db, &statements, Fault::Data).await;
}

async fn what_another_writer_holds_up_is_sent_again(db: TestDb<Database>) {
    create_tables(&db).await;
    let mut connection = options(&db).connect().await.unwrap();
    let mut holder = db.pool().acquire().await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *holder).await.unwrap();
    assert_eq!(fault(&mut connection, "DELETE FROM jobs").await, Fault::Transient);
    sqlx::raw_sql("COMMIT").execute(&mut *holder).await.unwrap();

    // It has read what is not the newest any more, and no waiting would make it so.
    let read = "BEGIN; SELECT count(*) FROM jobs";
    sqlx::raw_sql(read).execute(&mut connection).await.unwrap();
    let write = "INSERT INTO bare_jobs (id, payload) VALUES ('a', '')";
    sqlx::raw_sql(write).execute(&mut *holder).await.unwrap();
    assert_eq!(fault(&mut connection, "DELETE FROM jobs").await, Fault::Transient);
    connection.close().await.unwrap();
}

async fn what_nobody_may_write_stops_a_subscription(db: TestDb<Database>) {
    create_tables(&db).await;
    let mut connection = options(&db).read_only(true).connect().await.unwrap();
    assert_eq!(fault(&mut connection, "DELETE FROM jobs").await, Fault::Schema);
    connection.close().await.unwrap();
}
