//! Opening a subscription: everything that is checked before the first row is claimed.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{Shared, check};
use crate::backend::LONGEST;
use crate::backend::{Backend, HostClock};
use crate::claim::{Ledger, Resolved, Signals, Subscription, Wake};
use crate::descriptor::{Form, Role, TimeForm};
use crate::dialect::{LeaseStatements, Names};
use crate::error::SqlxBrokerError;
use crate::handler::{DecodeFailure, Needs, QueueTable, Settings, States, Subscribed};
use crate::settle::Cap;
use crate::telemetry;

/// A subscription that is checked and claims nothing yet.
pub(crate) type Opened<DB, S> = Arc<Subscription<DB, <S as crate::handler::Declared>::Row>>;

/// Checks a subscription against its declaration, its service and its table.
pub(crate) async fn open<DB: Backend, S: Subscribed<DB>>(
    shared: &Arc<Shared<DB>>,
    settings: Settings,
    states: &States,
) -> Result<Opened<DB, S>, SqlxBrokerError> {
    let table = S::Row::TABLE;
    let name = settings.name;
    let declaration = |reason: &str| SqlxBrokerError::Declaration {
        subscription: name.to_owned(),
        table: table.to_string(),
        reason: reason.to_owned(),
    };
    let mut needs = Needs::default();
    S::needs(&mut needs);
    if let Some(state) = states.missing(&needs) {
        return Err(SqlxBrokerError::MissingState { subscription: name.to_owned(), state });
    }
    let can_fail = settings.can_fail;
    let resolved = resolve(shared, settings).map_err(|reason| declaration(&reason))?;
    if can_fail && resolved.cap.is_none() {
        telemetry::retry_without_pause(name, table.name());
    }
    let names = Names::new(&table);
    let dialect = DB::dialect(shared.clock.of_statements());
    let statements = names.as_ref().and_then(|names| LeaseStatements::new(&dialect, names));
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
    let (Some(names), Some(statements)) = (names, statements) else {
        return Err(declaration("the table has no `id` or no `locked_until` column"));
    };
    let form = match table.column(Role::LockedUntil).map(|column| column.form()) {
        Some(Form::Time { form, .. }) => form,
        _ => TimeForm::Native,
    };
    let group = resolved.group.clone().unwrap_or_default();
    shared.subscribe(names.table(), &group, name)?;
    check::table::<DB, S::Row>(&shared.connections, &dialect, &names, &statements, name, form)
        .await?;
    Ok(Arc::new(Subscription {
        name,
        form,
        signals: Signals::new(Wake::register(names.table(), &group)),
        names,
        statements,
        settings: resolved,
        connections: shared.connections.clone(),
        clock: HostClock::clone(&shared.clock),
        states: states.clone(),
        ledger: Mutex::new(Ledger::new(form, table.has(Role::Attempt))),
        due: Mutex::default(),
        ended: Mutex::default(),
        panic: Mutex::default(),
    }))
}

/// Settles what the mount and the broker leave open, and refuses what contradicts itself.
fn resolve<DB: Backend>(shared: &Shared<DB>, settings: Settings) -> Result<Resolved, String> {
    let Settings { group, workers, timeout, on_decode_failure, .. } = settings;
    // Bounded, so that no sum of times overflows; nobody waits longer.
    let bounded = |duration: Duration| duration.min(LONGEST);
    let poll_interval = bounded(settings.poll_interval.unwrap_or(shared.defaults.poll_interval));
    let lease = bounded(settings.lease.unwrap_or(shared.defaults.lease));
    let timeout = timeout.map(bounded);
    let cap = match (settings.max_attempts, settings.dead_letter_group) {
        (Some(max_attempts), Some(dead_letter)) => Some(Cap { max_attempts, dead_letter }),
        (None, None) => None,
        (Some(_), None) => {
            return Err("`max_attempts` needs `dead_letter_group`, where spent rows go".to_owned());
        }
        (None, Some(_)) => {
            return Err("`dead_letter_group` needs `max_attempts`, or no row goes there".to_owned());
        }
    };
    if let (Some(cap), Some(group)) = (&cap, &group)
        && cap.dead_letter == *group
    {
        return Err(format!(
            "the dead-letter group `{group}` is the subscription's own group, so a spent row \
             would come back for ever; name another group"
        ));
    }
    if cap.as_ref().is_some_and(|cap| cap.max_attempts == 0) {
        return Err("`max_attempts` must be at least 1".to_owned());
    }
    if on_decode_failure == DecodeFailure::DeadLetter && cap.is_none() {
        return Err(
            "`on_decode_failure` is `dead_letter`, and there is none: add `max_attempts` and \
             `dead_letter_group`"
                .to_owned(),
        );
    }
    if workers == 0 {
        return Err("`workers` must be at least 1".to_owned());
    }
    if poll_interval < Duration::from_millis(1) {
        return Err("`poll_interval` must be at least a millisecond".to_owned());
    }
    // Shorter than a few round trips, no lease could be renewed in time.
    if lease < Duration::from_millis(100) {
        return Err("`lease` must be at least 100 milliseconds".to_owned());
    }
    Ok(Resolved { group, workers, poll_interval, lease, timeout, cap, on_decode_failure })
}
