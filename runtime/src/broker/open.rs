//! Opening a subscription: everything that is checked before the first row is claimed.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::registration::Registration;
use super::resolve::resolve;
use super::{Shared, check};
use crate::backend::{Backend, Chain, HostClock};
use crate::claim::{Leases, Ledger, RowLocks, Signals, Subscription, Wake};
use crate::descriptor::{Form, Role};
use crate::dialect::{LeaseStatements, Names, RowLockStatements, Statement};
use crate::error::SqlxBrokerError;
use crate::handler::{DeadLetter, Needs, Settings, States, TableOn};
use crate::telemetry;

/// A subscription that is checked and claims nothing yet.
pub(crate) struct Opened<DB: Backend, T: TableOn<DB>> {
    pub(crate) rows: Rows<DB, T>,
    /// Held as long as rows are claimed.
    pub(crate) registration: Registration,
}

/// A subscription, by what owns its rows while they are in work.
pub(crate) enum Rows<DB: Backend, T: TableOn<DB>> {
    Leases(Arc<Leases<DB, T>>),
    RowLocks(Arc<RowLocks<DB, T>>),
}

/// Checks a subscription against its declaration, its service and its table.
pub(crate) async fn open<DB: Backend, T: TableOn<DB>>(
    shared: &Arc<Shared<DB>>,
    settings: Settings,
    needs: &Needs,
    states: &States,
) -> Result<Opened<DB, T>, SqlxBrokerError> {
    let table = T::TABLE;
    let name = settings.name;
    let declaration = |reason: &str| SqlxBrokerError::Declaration {
        subscription: name.to_owned(),
        table: table.to_string(),
        reason: reason.to_owned(),
    };
    if let Some(state) = states.missing(needs) {
        return Err(SqlxBrokerError::MissingState { subscription: name.to_owned(), state });
    }
    if let (Some(argument), Some(_)) = (needs.single, settings.batch) {
        return Err(declaration(&format!(
            "a batch handler takes `{argument}`, which only a single row has; take the rows: `&[Row]`"
        )));
    }
    if needs.pool {
        shared.connections.share().await;
    }
    let can_fail = settings.can_fail;
    let resolved = resolve(shared, settings).map_err(|reason| declaration(&reason))?;
    if can_fail && resolved.cap.is_none() {
        telemetry::retry_without_pause(name, table.name());
    }
    if let (Some(cap), Some(Form::Count(count))) =
        (&resolved.cap, table.column(Role::Attempt).map(|column| column.form()))
        && i64::from(cap.max_attempts) >= count.max()
    {
        return Err(declaration(&format!(
            "`max_attempts` is {}, and the attempt column counts no further than {}; use a wider \
             integer",
            cap.max_attempts,
            count.max()
        )));
    }
    let Some(names) = Names::new(&table) else {
        return Err(declaration("the table has no `id` column"));
    };
    let dialect = DB::dialect(shared.clock.of_statements());
    let dead_letters = match resolved.cap.as_ref().map(|cap| &cap.dead_letter) {
        Some(DeadLetter::Table(dead)) => Names::new(dead),
        _ => None,
    };
    if dead_letters.as_ref().is_some_and(|dead| dead.table() == names.table()) {
        return Err(declaration(
            "the table of the dead letters is the subscription's own table, so a spent row would \
             come back for ever; name another table",
        ));
    }
    let Some(claims) = Claims::new::<DB>(&dialect, &names, dead_letters.as_ref()) else {
        return Err(declaration("its database cannot claim rows as the table declares"));
    };
    let group = resolved.group.clone().unwrap_or_default();
    let registration = shared.subscribed.subscribe(names.table(), &group, name)?;
    check::table::<DB, T>(&shared.connections, &dialect, &names, claims.all(), name).await?;
    let subscription = Subscription {
        name,
        table,
        wake: Wake::register(names.table(), &group),
        names,
        dead_letters,
        settings: resolved,
        connections: shared.connections.clone(),
        clock: HostClock::clone(&shared.clock),
        states: states.clone(),
        due: Mutex::default(),
        due_sooner: Notify::new(),
        draining: shared.closing.child_token(),
        over: CancellationToken::new(),
        ended: Mutex::default(),
        panic: Mutex::default(),
    };
    let rows = match claims {
        Claims::Leases(statements) => {
            let form = table.lease_form();
            Rows::Leases(Arc::new(Leases {
                subscription,
                statements,
                form,
                ledger: Mutex::new(Ledger::new(form, table.has(Role::Attempt))),
                signals: Signals::default(),
            }))
        }
        Claims::RowLocks(statements, texts) => {
            Rows::RowLocks(Arc::new(RowLocks::new(subscription, statements, texts)))
        }
    };
    Ok(Opened { rows, registration })
}

/// The statements of a subscription, by what owns its rows while they are in work.
enum Claims {
    Leases(LeaseStatements),
    RowLocks(RowLockStatements, Chain),
}

impl Claims {
    fn new<DB: Backend>(
        dialect: &DB::Dialect,
        names: &Names,
        dead: Option<&Names>,
    ) -> Option<Self> {
        if let Some(statements) = LeaseStatements::new(dialect, names, dead) {
            return Some(Self::Leases(statements));
        }
        let statements = RowLockStatements::new(dialect, names, dead);
        statements.zip(DB::CHAIN).map(|(statements, texts)| Self::RowLocks(statements, texts))
    }

    fn all(&self) -> Vec<&Statement> {
        match self {
            Self::Leases(statements) => statements.all().collect(),
            Self::RowLocks(statements, _) => statements.all().collect(),
        }
    }
}
