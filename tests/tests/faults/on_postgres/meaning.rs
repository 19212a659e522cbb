//! What PostgreSQL's errors mean, as they come.

use queue_table::__private::Fault;
use queue_table::Backend;
use queue_table_tests::conformance;
use queue_table_tests::database::TestDb;
use queue_table_tests::queue::create_tables;
use sqlx::SqlSafeStr;
use sqlx::postgres::PgConnection;

use super::Database;

conformance![
    Database:
    what_is_missing_or_forbidden_stops_a_subscription,
    what_a_row_breaks_costs_that_row_alone,
    what_waits_too_long_is_asked_again_later,
    what_passes_is_sent_again,
    what_becomes_of_a_statement_is_looked_up_after_its_connection,
];

/// An error of a statement, and what it means.
async fn fault(connection: &mut PgConnection, sql: &'static str) -> Fault {
    let error = match sqlx::raw_sql(sql.into_sql_str()).execute(&mut *connection).await {
        Ok(_) => panic!("it ran: {sql}"),
        Err(error) => Database::fault(&error),
    };
    // What the statement began.
    let _ = sqlx::raw_sql("ROLLBACK; RESET ALL").execute(connection).await;
    error
}

async fn each_means(db: &TestDb<Database>, statements: &[&'static str], meaning: Fault) {
    for sql in statements {
        let mut connection = db.pool().acquire().await.unwrap();
        assert_eq!(fault(&mut connection, sql).await, meaning, "{sql}");
    }
}

async fn what_is_missing_or_forbidden_stops_a_subscription(db: TestDb<Database>) {
    create_tables(&db).await;
    let statements = [
        "DELETE FROM nowhere",
        "DELETE FROM nowhere.jobs",
        "SELECT absent FROM jobs",
        "UPDATE jobs SET absent = 1",
        "INSERT INTO jobs (absent) VALUES (1)",
        "SELECT absent(id) FROM jobs",
        "BEGIN; SET LOCAL ROLE pg_monitor; DELETE FROM jobs",
    ];
    each_means(&db, &statements, Fault::Schema).await;
}

async fn what_a_row_breaks_costs_that_row_alone(db: TestDb<Database>) {
    db.execute(
        "CREATE TABLE parents (id integer PRIMARY KEY, n smallint NOT NULL CHECK (n < 9)); \
         CREATE TABLE children (parent integer REFERENCES parents (id)); \
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN RAISE EXCEPTION ''no''; END'; \
         CREATE TRIGGER refuse BEFORE UPDATE ON parents \
         FOR EACH ROW EXECUTE FUNCTION refuse(); \
         INSERT INTO parents VALUES (1, 1); INSERT INTO children VALUES (1)",
    )
    .await;
    let statements = [
        "INSERT INTO parents VALUES (1, 1)",
        "INSERT INTO parents VALUES (2, NULL)",
        "INSERT INTO parents VALUES (2, 9)",
        "INSERT INTO parents VALUES (2, 70000)",
        "INSERT INTO children VALUES (2)",
        "DELETE FROM parents",
        "UPDATE parents SET n = 2",
        "SELECT CAST('{' AS jsonb)",
        "SELECT 1 / (n - 1) FROM parents",
    ];
    each_means(&db, &statements, Fault::Data).await;
}

async fn what_waits_too_long_is_asked_again_later(db: TestDb<Database>) {
    create_tables(&db).await;
    let mut holder = db.pool().acquire().await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE jobs").execute(&mut *holder).await.unwrap();
    let statements = [
        "BEGIN; SET LOCAL lock_timeout = '10ms'; DELETE FROM jobs",
        "BEGIN; SET LOCAL statement_timeout = '10ms'; DELETE FROM jobs",
    ];
    each_means(&db, &statements, Fault::Blocked).await;
    sqlx::raw_sql("ROLLBACK").execute(&mut *holder).await.unwrap();
}

async fn what_passes_is_sent_again(db: TestDb<Database>) {
    db.execute("CREATE TABLE counters (n integer); INSERT INTO counters VALUES (1)").await;
    let mut connection = db.pool().acquire().await.unwrap();
    let read = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM counters";
    sqlx::raw_sql(read).execute(&mut *connection).await.unwrap();
    db.execute("UPDATE counters SET n = 2").await;
    let write = "UPDATE counters SET n = n + 1";
    assert_eq!(fault(&mut connection, write).await, Fault::Transient, "it read what is old");
    // A full disk is not to be had here.
    let full = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$";
    assert_eq!(fault(&mut connection, full).await, Fault::Full);
}

async fn what_becomes_of_a_statement_is_looked_up_after_its_connection(db: TestDb<Database>) {
    create_tables(&db).await;
    let statements = [
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "BEGIN READ ONLY; DELETE FROM jobs",
        "EXECUTE absent",
    ];
    each_means(&db, &statements, Fault::Connection).await;
}
