//! Costs on PostgreSQL: buffers and time of statements that are rolled back.

use std::fmt::Write as _;

use chrono::{DateTime, SecondsFormat, Utc};
use queue_table::__private::lease::{MAX_LEFT_OUT, Param, RowValue};
use queue_table::Backend;
use serde_json::Value;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Postgres, Row};

use super::{Cost, GROUP, LEASE, MANY, State};
use crate::shapes::{Rendered, rendered};

/// The quickest of so many runs is taken.
const RUNS: u64 = 3;

/// Rows between the head and the watermark, so that neither sees the row versions of the other.
const GAP: u64 = 1500;

/// With few dead rows it would leave the indexes alone, and then a large table is another than a
/// small one.
const VACUUM: &str = "VACUUM (ANALYZE, INDEX_CLEANUP ON) jobs";

/// What is measured in every state.
const MEASURED: [&str; 4] = ["claim", "claim_watermark", "ack", "renew"];

/// A session that is set up as the queue sets up its own.
#[derive(Debug)]
pub struct Session {
    connection: PgConnection,
}

impl Session {
    /// Connects to `url`.
    pub async fn open(url: &str) -> Self {
        let mut connection = PgConnection::connect(url).await.unwrap();
        <Postgres as Backend>::enter(&mut connection).await.unwrap();
        Self { connection }
    }

    /// Runs statements without parameters.
    pub async fn run(&mut self, sql: &str) -> Vec<PgRow> {
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut self.connection).await;
        // The arrays of 500 rows would hide the rest.
        rows.unwrap_or_else(|error| panic!("{error}\nin: {sql:.2000}"))
    }

    /// Prepares a statement under its own name.
    pub async fn prepare(&mut self, rendered: &Rendered) {
        let Rendered { name, statement, types, .. } = rendered;
        let types = match types.is_empty() {
            true => String::new(),
            false => format!(" ({})", types.join(", ")),
        };
        self.run(&format!("PREPARE \"{name}\"{types} AS {}", statement.text())).await;
    }

    /// The plan of a prepared statement; with `options` like `ANALYZE, BUFFERS` it runs.
    pub async fn explain(&mut self, name: &str, arguments: &str, options: &str) -> Value {
        let sql = format!("EXPLAIN ({options}, FORMAT JSON) EXECUTE \"{name}\"{arguments}");
        let plan: Value = self.run(&sql).await[0].try_get(0).unwrap();
        plan[0].clone()
    }
}

/// What is bound to a statement.
#[derive(Debug, Clone, Default)]
struct Bound {
    limit: usize,
    after: u64,
    /// What a settlement or a renewal is about, or what a claim leaves out.
    rows: Vec<(i64, DateTime<Utc>, i64)>,
}

impl Bound {
    fn arguments(&self, rendered: &Rendered) -> String {
        let params = rendered.statement.params();
        let values: Vec<_> = params.iter().map(|param| self.value(param)).collect();
        format!("({})", values.join(", "))
    }

    fn value(&self, param: &Param) -> String {
        match param {
            Param::Group => format!("'{GROUP}'"),
            Param::Limit => self.limit.to_string(),
            Param::Lease => LEASE.to_string(),
            Param::AfterTime(_) => "NULL".to_owned(),
            Param::AfterId => self.after.to_string(),
            Param::Array(RowValue::Id) => array(self.rows.iter().map(|row| row.0)),
            Param::Array(RowValue::Token) => {
                array(self.rows.iter().map(|row| {
                    format!("\"{}\"", row.1.to_rfc3339_opts(SecondsFormat::Micros, true))
                }))
            }
            Param::Array(RowValue::Attempt) => array(self.rows.iter().map(|row| row.2)),
            param => unreachable!("{param:?} is not measured"),
        }
    }
}

fn array(values: impl Iterator<Item = impl ToString>) -> String {
    let values: Vec<_> = values.map(|value| value.to_string()).collect();
    format!("'{{{}}}'", values.join(","))
}

/// Measures the statements on tables of so many rows, in each state; the tables are gone afterwards.
///
/// Use it alone on its database: a transaction beside it keeps the dead rows of all tables.
pub async fn measure(url: &str, rows: u64) -> Vec<(State, Vec<Cost>)> {
    let mut admin = PgConnection::connect(url).await.unwrap();
    let mut measured = Vec::new();
    fill(&mut admin, State::Pending, &[load(1, rows, "", "")]).await;
    for state in [State::Pending, State::Leased, State::Delayed, State::OldSnapshot] {
        let mut old = PgConnection::connect(url).await.unwrap();
        if state == State::OldSnapshot {
            let see = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM jobs LIMIT 1";
            execute(&mut old, see).await;
        }
        // What the state before left behind would be in the way of its updates.
        execute(&mut admin, VACUUM).await;
        execute(&mut admin, &enter(state, rows)).await;
        execute(&mut admin, VACUUM).await;
        measured.push((state, measure_filled(url, state, rows).await));
        if state == State::Leased {
            execute(&mut admin, "UPDATE jobs SET locked_until = NULL WHERE id <= 5000").await;
        }
        old.close().await.unwrap();
    }
    execute(&mut admin, "DROP TABLE IF EXISTS jobs, dead_jobs").await;
    let state = State::Processed;
    let done = load(1, rows, ", processed_at", ", now()");
    fill(&mut admin, state, &[done, load(rows + 1, rows + 1000, "", "")]).await;
    measured.push((state, measure_filled(url, state, rows).await));
    execute(&mut admin, "DROP TABLE IF EXISTS jobs, dead_jobs").await;
    admin.close().await.unwrap();
    measured
}

async fn execute(connection: &mut PgConnection, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await;
    done.unwrap_or_else(|error| panic!("{error}\nin: {sql}"));
}

/// The index is made after the load, which is quicker, and nothing runs beside the measuring.
async fn fill(admin: &mut PgConnection, state: State, loads: &[String]) {
    let ddl = state.shape().ddl::<Postgres>();
    let (table, index) = ddl.split_at(ddl.find("CREATE INDEX").unwrap());
    execute(admin, table).await;
    execute(admin, "ALTER TABLE jobs SET (autovacuum_enabled = off)").await;
    for load in loads {
        execute(admin, load).await;
    }
    execute(admin, index).await;
    execute(admin, VACUUM).await;
}

fn load(first: u64, last: u64, column: &str, value: &str) -> String {
    format!(
        "INSERT INTO jobs (id, kind, payload{column}) \
         SELECT id, '{GROUP}', decode(repeat('ab', 40), 'hex'){value} \
         FROM generate_series({first}, {last}) AS id"
    )
}

/// Brings the table of the state before into this one.
fn enter(state: State, rows: u64) -> String {
    let (first, last) = state.dead(rows);
    let those = format!("WHERE id BETWEEN {first} AND {last}");
    match state {
        State::Leased => {
            format!("UPDATE jobs SET locked_until = now() + interval '1 day' {those}")
        }
        State::Delayed => {
            format!("UPDATE jobs SET retry_after = now() + interval '1 day' {those}")
        }
        State::OldSnapshot => format!("DELETE FROM jobs {those}"),
        State::Pending | State::Processed => String::new(),
    }
}

/// Measures plans that a session made on the empty table and kept, on so many rows, and then those
/// that it makes once the table was analysed.
pub async fn measure_kept(url: &str, rows: u64) -> (Vec<Cost>, Vec<Cost>) {
    let mut admin = PgConnection::connect(url).await.unwrap();
    fill(&mut admin, State::Pending, &[]).await;
    let mut session = Session::open(url).await;
    let measured = Measured::prepare(&mut session, State::Pending, &MEASURED).await;
    for statement in &measured.statements {
        let bound = Bound { limit: MANY, ..Bound::default() };
        // From the sixth on a server thinks of keeping one plan for all values.
        for _ in 0..8 {
            session.run(&execution(statement, &bound)).await;
        }
    }
    execute(&mut admin, &load(1, rows, "", "")).await;
    let kept = measured.costs(&mut session, State::Pending, rows).await;
    execute(&mut admin, VACUUM).await;
    let made = measured.costs(&mut session, State::Pending, rows).await;
    execute(&mut admin, "DROP TABLE IF EXISTS jobs, dead_jobs").await;
    (kept, made)
}

/// Measures a claim on so many rows, and one that leaves out as many as there may be, all at its
/// start. Each run is at rows of its own: somebody else's snapshot may keep what a rollback leaves.
pub async fn measure_left_out(url: &str, rows: u64) -> [Cost; 2] {
    let mut admin = PgConnection::connect(url).await.unwrap();
    fill(&mut admin, State::Pending, &[load(1, rows, "", "")]).await;
    let mut session = Session::open(url).await;
    let names = ["claim_watermark", "claim_watermark_except"];
    let measured = Measured::prepare(&mut session, State::Pending, &names).await;
    let mut place = Place { after: 0, step: GAP };
    let mut costs = Vec::new();
    for name in names {
        let statement = measured.named(name);
        let cost = session.cost(name, statement, MANY, async |_| {
            let after = place.next();
            let ids = after.cast_signed() + 1..;
            let rows = ids.take(MAX_LEFT_OUT).map(|id| (id, DateTime::UNIX_EPOCH, 0)).collect();
            Bound { limit: MANY, after, rows }
        });
        costs.push(cost.await);
    }
    execute(&mut admin, "DROP TABLE IF EXISTS jobs, dead_jobs").await;
    costs.try_into().unwrap()
}

async fn measure_filled(url: &str, state: State, rows: u64) -> Vec<Cost> {
    let mut session = Session::open(url).await;
    let measured = Measured::prepare(&mut session, state, &MEASURED).await;
    let costs = measured.costs(&mut session, state, rows).await;
    session.connection.close().await.unwrap();
    costs
}

/// The statements that are measured.
struct Measured {
    statements: Vec<Rendered>,
}

impl Measured {
    async fn prepare(session: &mut Session, state: State, names: &[&str]) -> Self {
        let mut statements = rendered::<Postgres>(&state.shape());
        statements.retain(|statement| names.contains(&statement.name.as_str()));
        for statement in &statements {
            session.prepare(statement).await;
        }
        Self { statements }
    }

    fn named(&self, name: &str) -> &Rendered {
        self.statements.iter().find(|statement| statement.name == name).unwrap()
    }

    async fn costs(&self, session: &mut Session, state: State, rows: u64) -> Vec<Cost> {
        let (claim, past) = (self.named("claim"), self.named("claim_watermark"));
        // Past all that is dead, where the last claim ended.
        let after = state.dead(rows).1 + if state == State::Processed { 100 } else { GAP };
        let step = if state == State::OldSnapshot { MANY as u64 } else { 0 };
        let mut place = Place { after, step };
        let mut costs = Vec::new();
        for limit in [1, MANY] {
            let bound = Bound { limit, ..Bound::default() };
            costs.push(session.cost("claim", claim, limit, async |_| bound.clone()).await);
        }
        for limit in [1, MANY] {
            let cost = session.cost("claim past a watermark", past, limit, async |_| Bound {
                limit,
                after: place.next(),
                ..Bound::default()
            });
            costs.push(cost.await);
        }
        for name in ["ack", "renew"] {
            let cost = session.cost(name, self.named(name), MANY, async |session| {
                let bound = Bound { limit: MANY, after: place.next(), ..Bound::default() };
                let rows = session.claim(past, &bound).await;
                Bound { rows, ..bound }
            });
            costs.push(cost.await);
        }
        costs
    }
}

fn execution(rendered: &Rendered, bound: &Bound) -> String {
    format!("EXECUTE \"{}\"{}", rendered.name, bound.arguments(rendered))
}

/// Where claims past a watermark start: under an old snapshot each at rows of its own, because the
/// versions that a rollback leaves stay in their pages.
#[derive(Debug)]
struct Place {
    after: u64,
    step: u64,
}

impl Place {
    fn next(&mut self) -> u64 {
        self.after += self.step;
        self.after
    }
}

impl Session {
    /// Runs a statement some times, each rolled back; `bind` runs before it in its transaction.
    async fn cost(
        &mut self,
        name: &'static str,
        rendered: &Rendered,
        rows: usize,
        mut bind: impl AsyncFnMut(&mut Self) -> Bound,
    ) -> Cost {
        let mut quickest: Option<Cost> = None;
        for _ in 0..RUNS {
            self.run("BEGIN").await;
            let arguments = bind(self).await.arguments(rendered);
            let options = "ANALYZE, BUFFERS, TIMING OFF";
            let explained = self.explain(&rendered.name, &arguments, options).await;
            self.run("ROLLBACK").await;
            let cost = cost_of(name, rows, &explained);
            if quickest.as_ref().is_none_or(|quickest| cost.ms < quickest.ms) {
                quickest = Some(cost);
            }
        }
        quickest.unwrap()
    }

    async fn claim(&mut self, claim: &Rendered, bound: &Bound) -> Vec<(i64, DateTime<Utc>, i64)> {
        let rows = self.run(&execution(claim, bound)).await;
        let read = |row: &PgRow| {
            let attempt: i32 = row.try_get("attempt").unwrap();
            // The claim returns the number of this delivery, and stores that of the next one.
            let stored = i64::from(attempt) + 1;
            (row.try_get("id").unwrap(), row.try_get("locked_until").unwrap(), stored)
        };
        rows.iter().map(read).collect()
    }
}

fn cost_of(statement: &'static str, rows: usize, explained: &Value) -> Cost {
    let plan = &explained["Plan"];
    // A statement that took fewer rows would be cheap for a wrong reason.
    let taken = plan["Actual Rows"].as_f64().unwrap();
    assert_eq!(format!("{taken:.0}"), rows.to_string(), "{statement}\n{}", shown(plan));
    let blocks = ["Shared Hit Blocks", "Shared Read Blocks"].map(|key| plan[key].as_u64().unwrap());
    Cost {
        statement,
        rows,
        buffers: Some(blocks.iter().sum()),
        ms: explained["Execution Time"].as_f64().unwrap(),
        plan: shown(plan).lines().map(str::to_owned).collect(),
    }
}

/// A plan as text, an indented line for each node.
#[must_use]
pub fn shown(plan: &Value) -> String {
    let mut text = String::new();
    show(plan, 0, &mut text);
    text
}

fn show(node: &Value, depth: usize, text: &mut String) {
    let word = |key: &str| node[key].as_str().map(|word| format!(" {word}")).unwrap_or_default();
    let _ = write!(text, "{:width$}", "", width = 2 * depth);
    let _ = write!(text, "{}", node["Node Type"].as_str().unwrap_or("?"));
    let _ = write!(text, "{}{}", word("Index Name"), word("Alias"));
    if let Some(condition) = node["Index Cond"].as_str() {
        let _ = write!(text, " Cond: {condition}");
    }
    if let Some(blocks) = node["Shared Hit Blocks"].as_u64() {
        let read = node["Shared Read Blocks"].as_u64().unwrap_or_default();
        let _ = write!(text, " ({} buffers)", blocks + read);
    }
    text.push('\n');
    for child in node["Plans"].as_array().into_iter().flatten() {
        show(child, depth + 1, text);
    }
}
