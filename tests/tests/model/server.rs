//! The real table: every statement is the engine's own, and its clock stands still.

use std::collections::BTreeMap;

use queue_table::__private::lease::{
    ClaimFrom, Clock, Dialect, Event, Found, IdOn, LeaseStatements, Many, Names, Plan, RowsOf,
    Statement, Values, arguments,
};
use queue_table::descriptor::{Form, Role, TimeForm};
use queue_table::prelude::*;
use queue_table_tests::database::{Db, TestDb};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Postgres, SqlSafeStr, Sqlite};

use super::mutant::Mutant;
use super::row::{Claim, Stored, Taken, Times};
use super::shape::{DEAD, Shape, WORK};

/// The time at which the clock stands before a history moves it: 2030-01-01, in microseconds.
pub(crate) const BEGINNING: i64 = 1_893_456_000_000_000;

/// How a database is for one history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    /// How long statements wait between their start and their writes, where a database can tell.
    pub(crate) waited: i64,
    /// The planner is forbidden what keeps a locking subquery under `IN` from running again.
    pub(crate) hostile: bool,
}

/// What the model must know of a database.
pub(crate) trait Staged: Db {
    /// A statement's time is bound when it is sent; else it is the server's when it runs.
    const BINDS_NOW: bool;
    /// Another session can lock single rows.
    const LOCKS_ROWS: bool;

    /// What makes the clock stand still, and the planner as a history wants it.
    fn session(setup: Setup) -> Vec<String>;
}

impl Staged for Postgres {
    const BINDS_NOW: bool = false;
    const LOCKS_ROWS: bool = true;

    // Functions of the test's own schema stand before those of the catalog, so that the texts of
    // the statements are untouched; only `:shift` moves this clock.
    fn session(Setup { waited, hostile }: Setup) -> Vec<String> {
        let function = |name: &str, waited: i64| {
            format!(
                "CREATE OR REPLACE FUNCTION {name}() RETURNS timestamptz LANGUAGE sql STABLE AS \
                 $$ SELECT timestamptz '2030-01-01 00:00:00+00' + interval '{waited} microseconds' $$"
            )
        };
        let planner = ["hashjoin", "mergejoin", "material", "sort", "hashagg"].map(|node| {
            let switch = if hostile { "off" } else { "on" };
            format!("SET enable_{node} = {switch}")
        });
        let mut session = vec![
            "SELECT set_config('search_path', current_schema() || ', pg_catalog', false)"
                .to_owned(),
            function("statement_timestamp", 0),
            function("clock_timestamp", waited),
        ];
        session.extend(planner);
        // What a power cut would leave is none of the model's business.
        session.push("SET synchronous_commit = off".to_owned());
        session
    }
}

impl Staged for Sqlite {
    const BINDS_NOW: bool = true;
    const LOCKS_ROWS: bool = false;

    // As above.
    fn session(_: Setup) -> Vec<String> {
        vec!["PRAGMA synchronous = OFF".to_owned()]
    }
}

/// The test itself failed: a statement that does not run, and nothing about the queue.
#[derive(Debug)]
pub(crate) struct Broken(pub(crate) String);

impl Broken {
    fn by(error: impl Into<sqlx::error::BoxDynError>) -> Self {
        Self(error.into().to_string())
    }
}

/// The connections to one table.
pub(crate) struct Server<DB: Staged, S: Shape> {
    connection: PoolConnection<DB>,
    /// The session of a user who locks rows.
    other: PoolConnection<DB>,
    locking: bool,
    statements: LeaseStatements,
    setup: Setup,
    mutant: Option<Mutant>,
    shape: std::marker::PhantomData<S>,
}

impl<DB: Staged, S: Shape> Server<DB, S>
where
    S::Id: IdOn<DB>,
{
    pub(crate) async fn new(db: &TestDb<DB>) -> Result<Self, Broken> {
        let connect = async || db.pool().acquire().await.map_err(Broken::by);
        let mut connection = connect().await?;
        DB::enter(&mut connection).await.map_err(Broken::by)?;
        let names = Names::new(&S::Table::TABLE);
        let statements = names
            .and_then(|names| LeaseStatements::new(&DB::dialect(Clock::Shifted), &names, None));
        Ok(Self {
            connection,
            other: connect().await?,
            locking: false,
            statements: statements.ok_or_else(|| Broken::by("no statements for the table"))?,
            setup: Setup { waited: 0, hostile: false },
            mutant: None,
            shape: std::marker::PhantomData,
        })
    }

    /// Empties the table for the next history.
    pub(crate) async fn reset(
        &mut self,
        setup: Setup,
        mutant: Option<Mutant>,
    ) -> Result<(), Broken> {
        self.unlock().await?;
        (self.setup, self.mutant) = (setup, mutant);
        for sql in DB::session(setup) {
            self.run(&sql, DB::Arguments::default()).await?;
        }
        let sql = format!("DELETE FROM {}", S::COLUMNS.table);
        self.run(&sql, DB::Arguments::default()).await.map(drop)
    }

    /// The times of a statement that runs, or was bound, at `at`.
    pub(crate) fn times(&self, at: i64) -> Times {
        let waited = if DB::BINDS_NOW { 0 } else { self.setup.waited };
        Times { start: at, write: at + waited }
    }

    /// Whether the database has a claim of this kind for the table.
    pub(crate) fn has(&self, from: ClaimFrom) -> bool {
        self.statements.claims.get(from).is_some()
    }

    async fn run(&mut self, sql: &str, arguments: DB::Arguments) -> Result<Vec<DB::Row>, Broken> {
        let text = AssertSqlSafe(sql).into_sql_str();
        let rows = DB::rows(&mut self.connection, text, arguments).await;
        rows.map_err(|error| Broken(format!("{error}\nin: {sql}")))
    }

    async fn send(
        &mut self,
        statement: &Statement,
        values: &Values<'_, S::Id>,
        bound: usize,
        rows: &RowsOf<S::Id>,
    ) -> Result<Vec<DB::Row>, Broken> {
        let arguments = arguments::<DB, S::Id>(statement, values, bound, rows);
        let arguments = arguments.map_err(Broken::by)?;
        let (name, text) = (statement.name(), statement.text());
        match self.mutant {
            Some(mutant) => self.run(&mutant.change(name, text, &S::COLUMNS), arguments).await,
            None => self.run(text, arguments).await,
        }
    }

    async fn send_many(
        &mut self,
        many: &Many,
        at: i64,
        lease: i64,
        rows: &RowsOf<S::Id>,
    ) -> Result<Vec<DB::Row>, Broken> {
        let (statement, bound) = many.for_rows(rows.ids.len());
        self.send(statement, &values(at, lease), bound, rows).await
    }

    pub(crate) async fn claim(&mut self, claim: &Claim, at: i64) -> Result<Vec<Taken>, Broken> {
        let after = claim.after.map(|(due, n)| (due, S::id(n)));
        let values = of_claim::<S>(claim, after.as_ref(), at);
        let ids = claim.one.iter().chain(&claim.except).map(|n| S::id(*n)).collect();
        let named = RowsOf { ids, ..none(S::COLUMNS.form) };
        let statements = self.statements.clone();
        let (statement, bound) = match (claim.one, claim.except.len()) {
            (Some(_), _) => (&statements.claim_one, 1),
            (None, 0) => (statements.claim(claim.from), 0),
            (None, rows) => statements.claims_except.at(claim.from).for_rows(rows),
        };
        let rows = self.send(statement, &values, bound, &named).await?;
        let taken: sqlx::Result<Vec<_>> = rows.iter().map(read_claimed::<DB, S>).collect();
        let mut taken = taken.map_err(Broken::by)?;
        if !DB::Dialect::ORDERED_CLAIMS {
            taken.sort_by_key(|taken| (taken.due, taken.n));
        }
        Ok(taken)
    }

    /// Reads what the claim would take if it left nothing out.
    pub(crate) async fn first(&mut self, claim: &Claim, at: i64) -> Result<Vec<i64>, Broken> {
        let after = claim.after.map(|(due, n)| (due, S::id(n)));
        let values = of_claim::<S>(claim, after.as_ref(), at);
        let statement = self.statements.firsts.at(claim.from).clone();
        let rows = self.send(&statement, &values, 0, &none(S::COLUMNS.form)).await?;
        let ids: sqlx::Result<Vec<_>> =
            rows.iter().map(|row| Ok(S::n(&S::Id::read(row, 0)?))).collect();
        ids.map_err(Broken::by)
    }

    pub(crate) async fn settle(
        &mut self,
        event: Event,
        rows: &RowsOf<S::Id>,
        at: i64,
        lease: i64,
    ) -> Result<Vec<i64>, Broken> {
        let Some(Plan::One(many)) = self.statements.settle(event).cloned() else {
            return Err(Broken::by("no such settlement"));
        };
        let rows = self.send_many(&many, at, lease, rows).await?;
        let ids: sqlx::Result<Vec<_>> =
            rows.iter().map(|row| Ok(S::n(&S::Id::read(row, 0)?))).collect();
        ids.map_err(Broken::by)
    }

    pub(crate) async fn renew(
        &mut self,
        rows: &RowsOf<S::Id>,
        at: i64,
        lease: i64,
    ) -> Result<Vec<(i64, i64)>, Broken> {
        let many = self.statements.renew.clone();
        let rows = self.send_many(&many, at, lease, rows).await?;
        let read = |row: &DB::Row| {
            let token = DB::time(row, 1, S::COLUMNS.form)?;
            sqlx::Result::Ok((S::n(&S::Id::read(row, 0)?), token.unwrap_or(i64::MIN)))
        };
        let renewed: sqlx::Result<Vec<_>> = rows.iter().map(read).collect();
        renewed.map_err(Broken::by)
    }

    pub(crate) async fn look(
        &mut self,
        rows: &RowsOf<S::Id>,
        at: i64,
    ) -> Result<Vec<Found>, Broken> {
        let many = self.statements.look.clone();
        let count = rows.ids.len();
        let rows = self.send_many(&many, at, 0, rows).await?;
        let mut found = vec![None; count];
        for row in &rows {
            let (at, one) = Found::read::<DB>(row, S::COLUMNS.form).map_err(Broken::by)?;
            if let Some(found) = found.get_mut(at) {
                *found = Some(one);
            }
        }
        let found: Option<_> = found.into_iter().collect();
        found.ok_or_else(|| Broken::by("a look-up that says nothing of a row"))
    }

    /// All of the table.
    pub(crate) async fn table(&mut self) -> Result<BTreeMap<i64, Stored>, Broken> {
        let columns = &S::COLUMNS;
        let or = |name: Option<&'static str>, nothing: &'static str| name.unwrap_or(nothing);
        const NO_TIME: &str = "CAST(NULL AS bigint)";
        let sql = format!(
            "SELECT id, {}, CAST({} AS bigint), {}, {}, {}, coalesce({}, '') FROM {}",
            or(columns.group, "CAST('' AS text)"),
            or(columns.attempt, "1"),
            or(columns.delay.map(|delay| delay.name), NO_TIME),
            columns.lease,
            or(columns.processed_at, NO_TIME),
            or(columns.last_error, "CAST(NULL AS text)"),
            columns.table,
        );
        let rows = self.run(&sql, DB::Arguments::default()).await?;
        let form = |has: bool| if has { columns.form } else { TimeForm::Micros };
        let read = |row: &DB::Row| {
            let stored = Stored {
                group: DB::text(row, 1)?,
                attempt: DB::int(row, 2)?,
                retry_after: DB::time(row, 3, form(columns.delay.is_some()))?,
                locked_until: DB::time(row, 4, columns.form)?,
                processed_at: DB::time(row, 5, form(columns.processed_at.is_some()))?,
                last_error: DB::text(row, 6)?,
            };
            sqlx::Result::Ok((S::n(&S::Id::read(row, 0)?), stored))
        };
        let stored: sqlx::Result<_> = rows.iter().map(read).collect();
        stored.map_err(Broken::by)
    }

    pub(crate) async fn insert(&mut self, n: i64, due: Option<i64>) -> Result<(), Broken> {
        let columns = &S::COLUMNS;
        let mut names = vec!["id"];
        let mut values = vec!["$1".to_owned()];
        let mut arguments = DB::Arguments::default();
        let bound = S::id(n).bind(&mut arguments);
        if let Some(group) = columns.group {
            names.push(group);
            values.push(format!("'{WORK}'"));
        }
        if columns.has_payload {
            names.push("payload");
            values.push("'x'".to_owned());
        }
        let bound = match columns.delay {
            Some(delay) if due.is_some() => {
                names.push(delay.name);
                values.push("$2".to_owned());
                bound.and_then(|()| DB::bind_time(&mut arguments, columns.form, due))
            }
            _ => bound,
        };
        bound.map_err(Broken::by)?;
        let (names, values) = (names.join(", "), values.join(", "));
        let sql = format!("INSERT INTO {} ({names}) VALUES ({values})", columns.table);
        self.run(&sql, arguments).await.map(drop)
    }

    pub(crate) async fn delete(&mut self, n: i64) -> Result<(), Broken> {
        let mut arguments = DB::Arguments::default();
        S::id(n).bind(&mut arguments).map_err(Broken::by)?;
        let sql = format!("DELETE FROM {} WHERE id = $1", S::COLUMNS.table);
        self.run(&sql, arguments).await.map(drop)
    }

    /// The user locks a row in a transaction of his own.
    pub(crate) async fn lock(&mut self, n: i64) -> Result<(), Broken> {
        let mut arguments = DB::Arguments::default();
        S::id(n).bind(&mut arguments).map_err(Broken::by)?;
        if !self.locking {
            self.on_other("BEGIN".to_owned(), DB::Arguments::default()).await?;
            self.locking = true;
        }
        let sql = format!("SELECT 1 FROM {} WHERE id = $1 FOR UPDATE", S::COLUMNS.table);
        self.on_other(sql, arguments).await
    }

    pub(crate) async fn unlock(&mut self) -> Result<(), Broken> {
        if std::mem::take(&mut self.locking) {
            self.on_other("ROLLBACK".to_owned(), DB::Arguments::default()).await?;
        }
        Ok(())
    }

    async fn on_other(&mut self, sql: String, arguments: DB::Arguments) -> Result<(), Broken> {
        let text = AssertSqlSafe(sql).into_sql_str();
        DB::rows(&mut self.other, text, arguments).await.map(drop).map_err(Broken::by)
    }
}

fn values<'a, Id>(at: i64, lease: i64) -> Values<'a, Id> {
    let (group, dead_letter) = (WORK, DEAD);
    Values { group, dead_letter, lease, now: at, shift: at - BEGINNING, ..Values::default() }
}

fn of_claim<'a, S: Shape>(
    claim: &Claim,
    after: Option<&'a (Option<i64>, S::Id)>,
    at: i64,
) -> Values<'a, S::Id> {
    let limit = i64::try_from(claim.limit).unwrap_or(i64::MAX);
    let after = after.map(|(due, id)| (*due, id));
    Values { limit, after, ..values(at, claim.lease) }
}

fn none<Id>(form: TimeForm) -> RowsOf<Id> {
    let (ids, tokens, attempts) = (Vec::new(), Vec::new(), Vec::new());
    RowsOf { form, ids, tokens, attempts, reasons: Vec::new(), delays: Vec::new() }
}

/// Reads a claimed row as the claimer does.
fn read_claimed<DB: Staged, S: Shape>(row: &DB::Row) -> sqlx::Result<Taken>
where
    S::Id: IdOn<DB>,
{
    let mut taken = Taken { n: -1, token: i64::MIN, attempt: 1, due: None };
    for (at, column) in S::Table::TABLE.columns().iter().enumerate() {
        match (column.role(), column.form()) {
            (Role::Id, _) => taken.n = S::n(&S::Id::read(row, at)?),
            (Role::LockedUntil, Form::Time { form, .. }) => {
                taken.token = DB::time(row, at, form)?.unwrap_or(i64::MIN);
            }
            (Role::RetryAfter, Form::Time { form, .. }) => taken.due = DB::time(row, at, form)?,
            (Role::Attempt, Form::Count(count)) => taken.attempt = DB::count(row, at, count)?,
            _ => {}
        }
    }
    Ok(taken)
}
