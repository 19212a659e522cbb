//! Costs on SQLite: the plan and the time of statements that are rolled back.

use std::str::FromStr;
use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use queue_table::__private::lease::{
    ClaimFrom, Dialect, Event, LeaseStatements, Many, Param, Plan, RowValue, Statement,
};
use queue_table::Backend;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteRow,
};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, Row, SqlSafeStr, Sqlite};

use super::{Cost, GROUP, LEASE, MANY, State};

/// The quickest of so many runs is taken.
const RUNS: u32 = 3;

type Claimed = (i64, DateTime<Utc>, i64);

/// Connects to the file of `url`.
pub async fn open(url: &str) -> SqliteConnection {
    let options = SqliteConnectOptions::from_str(url)
        .unwrap()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal);
    options.connect().await.unwrap()
}

/// Runs statements without parameters, and returns their rows.
pub async fn run(connection: &mut SqliteConnection, sql: &str) -> Vec<SqliteRow> {
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection).await;
    rows.unwrap_or_else(|error| panic!("{error}\nin: {sql}"))
}

/// The steps of a statement's plan.
pub async fn plan(connection: &mut SqliteConnection, statement: &str) -> Vec<String> {
    let rows = run(connection, &format!("EXPLAIN QUERY PLAN {statement}")).await;
    rows.iter().map(|row| row.try_get("detail").unwrap()).collect()
}

/// Measures the statements on tables of so many rows, in each state, in the empty file of `url`.
pub async fn measure(url: &str, rows: u64) -> Vec<(State, Vec<Cost>)> {
    let mut connection = open(url).await;
    let mut measured = Vec::new();
    let due = load(1, rows, "", "");
    fill(&mut connection, State::Pending, &[due]).await;
    for state in [State::Pending, State::Leased, State::Delayed, State::OldSnapshot] {
        let mut old = open(url).await;
        if state == State::OldSnapshot {
            run(&mut old, "BEGIN; SELECT 1 FROM jobs LIMIT 1").await;
        }
        run(&mut connection, &enter(state, rows)).await;
        measured.push((state, measure_filled(&mut connection, state).await));
        if state == State::Leased {
            run(&mut connection, "UPDATE jobs SET locked_until = NULL WHERE id <= 5000").await;
        }
        old.close().await.unwrap();
    }
    run(&mut connection, "DROP TABLE IF EXISTS jobs; DROP TABLE IF EXISTS dead_jobs").await;
    let state = State::Processed;
    let done = load(1, rows, ", processed_at", &format!(", '{}'", text(Utc::now())));
    fill(&mut connection, state, &[done, load(rows + 1, rows + 1000, "", "")]).await;
    measured.push((state, measure_filled(&mut connection, state).await));
    connection.close().await.unwrap();
    measured
}

/// The index is made after the load, which is quicker.
async fn fill(connection: &mut SqliteConnection, state: State, loads: &[String]) {
    let ddl = state.shape().ddl::<Sqlite>();
    let (table, index) = ddl.split_at(ddl.find("CREATE INDEX").unwrap());
    run(connection, &format!("BEGIN; {table}; {}; {index}; COMMIT", loads.join("; "))).await;
}

fn load(first: u64, last: u64, column: &str, value: &str) -> String {
    format!(
        "WITH RECURSIVE n (id) AS (SELECT {first} UNION ALL SELECT id + 1 FROM n \
         WHERE id < {last}) INSERT INTO jobs (id, kind, payload{column}) \
         SELECT id, '{GROUP}', zeroblob(40){value} FROM n"
    )
}

/// Brings the table of the state before into this one.
fn enter(state: State, rows: u64) -> String {
    let (first, last) = state.dead(rows);
    let those = format!("WHERE id BETWEEN {first} AND {last}");
    let tomorrow = text(Utc::now() + TimeDelta::days(1));
    match state {
        State::Leased => format!("UPDATE jobs SET locked_until = '{tomorrow}' {those}"),
        State::Delayed => format!("UPDATE jobs SET retry_after = '{tomorrow}' {those}"),
        State::OldSnapshot => format!("DELETE FROM jobs {those}"),
        State::Pending | State::Processed => String::new(),
    }
}

/// As sqlx writes it.
fn text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, false)
}

async fn measure_filled(connection: &mut SqliteConnection, state: State) -> Vec<Cost> {
    let shape = state.shape();
    let dialect = <Sqlite as Backend>::dialect(shape.clock);
    let statements = LeaseStatements::new(&dialect, &shape.names(), None).unwrap();
    assert!(dialect.claim(&shape.names(), ClaimFrom::Watermark).is_none(), "measure it");
    let mut costs = Vec::new();
    for limit in [1, MANY] {
        let mut ms = f64::MAX;
        for _ in 0..RUNS {
            run(connection, "BEGIN IMMEDIATE").await;
            let (claimed, took) =
                claim(connection, statements.claim(ClaimFrom::Start), limit).await;
            run(connection, "ROLLBACK").await;
            assert_eq!(claimed.len(), limit);
            ms = ms.min(took);
        }
        let plan = plan(connection, statements.claim(ClaimFrom::Start).text()).await;
        costs.push(Cost { statement: "claim", rows: limit, buffers: None, ms, plan });
    }
    let Some(Plan::One(ack)) = statements.settle(Event::Ack) else { unreachable!("one statement") };
    for (name, many) in [(Event::Ack.name(), ack), ("renew", &statements.renew)] {
        let mut ms = f64::MAX;
        for _ in 0..RUNS {
            run(connection, "BEGIN IMMEDIATE").await;
            let (claimed, _) = claim(connection, statements.claim(ClaimFrom::Start), MANY).await;
            let took = write(connection, many, &claimed).await;
            run(connection, "ROLLBACK").await;
            ms = ms.min(took);
        }
        let plan = plan(connection, many.for_rows(MANY).0.text()).await;
        costs.push(Cost { statement: name, rows: MANY, buffers: None, ms, plan });
    }
    costs
}

async fn claim(
    connection: &mut SqliteConnection,
    statement: &Statement,
    limit: usize,
) -> (Vec<Claimed>, f64) {
    let (rows, ms) = timed(connection, statement, limit, 0, &[]).await;
    let read = |row: &SqliteRow| {
        let attempt: i64 = row.try_get("attempt").unwrap();
        // The claim returns the number of this delivery, and stores that of the next one.
        (row.try_get("id").unwrap(), row.try_get("locked_until").unwrap(), attempt + 1)
    };
    (rows.iter().map(read).collect(), ms)
}

async fn write(connection: &mut SqliteConnection, many: &Many, claimed: &[Claimed]) -> f64 {
    let (statement, bound) = many.for_rows(claimed.len());
    let (rows, ms) = timed(connection, statement, 0, bound, claimed).await;
    assert_eq!(rows.len(), claimed.len(), "{}", statement.name());
    ms
}

async fn timed(
    connection: &mut SqliteConnection,
    statement: &Statement,
    limit: usize,
    bound: usize,
    claimed: &[Claimed],
) -> (Vec<SqliteRow>, f64) {
    let mut arguments = SqliteArguments::default();
    let now = Utc::now();
    for param in statement.params() {
        match param {
            Param::Group => arguments.add(GROUP).unwrap(),
            Param::Limit => arguments.add(i64::try_from(limit).unwrap()).unwrap(),
            Param::Now(_) => arguments.add(now).unwrap(),
            Param::Until(_) => arguments.add(now + TimeDelta::microseconds(LEASE)).unwrap(),
            Param::Rows(values) => {
                for row in 0..bound {
                    let (id, token, attempt) = claimed[row.min(claimed.len() - 1)];
                    for value in values {
                        match value {
                            RowValue::Id => arguments.add(id).unwrap(),
                            RowValue::Token => arguments.add(token).unwrap(),
                            RowValue::NextToken => {
                                arguments.add(token + TimeDelta::microseconds(1)).unwrap();
                            }
                            RowValue::Attempt => arguments.add(attempt).unwrap(),
                            value => unreachable!("{value:?} is not measured"),
                        }
                    }
                }
            }
            param => unreachable!("{param:?} is not measured"),
        }
    }
    let sql = AssertSqlSafe(statement.text().clone()).into_sql_str();
    let start = Instant::now();
    let rows = sqlx::query_with(sql, arguments).fetch_all(connection).await.unwrap();
    (rows, start.elapsed().as_secs_f64() * 1000.0)
}
