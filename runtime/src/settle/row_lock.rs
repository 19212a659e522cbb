//! Outcomes of one transaction: one statement for all of a kind, before its commit.

use super::Settling;
use super::refused::{are_dead_letters, tell_refused};
use crate::backend::{Backend, Failure, Fault, IdOn, RowsOf, bind_many};
use crate::claim::{Chain, End, LEFT_ALONE};
use crate::descriptor::{Role, TimeForm};
use crate::dialect::{Event, Many};
use crate::handler::TableOn;
use crate::telemetry;

/// Why a transaction cannot be committed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The database refuses an outcome. Nothing is written, and the rows are back.
    Rows,
    /// The transaction is of no use any more.
    Failed(Failure),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Writes what is to be written for each row of a chain, one statement for all of a kind, and
/// commits. If nothing is to be written the transaction is rolled back: the rows are as they were.
///
/// `settlings` are one a row, in their order.
pub(crate) async fn settle_locked<DB: Backend, T: TableOn<DB>>(
    chain: &mut Chain<'_, DB, T>,
    settlings: &mut [Settling],
) -> Result<(), Refused> {
    let mut end = End::Rollback;
    for event in Event::ALL {
        let Some(many) = chain.locks.statements.settle(event) else { continue };
        let mut rows = RowsOf::new(TimeForm::Micros);
        let mut of_event: Vec<_> = settlings.iter_mut().zip(&chain.ids).collect();
        of_event.retain(|(settling, _)| settling.settlement.event == event);
        // In one order everywhere, so that two statements never wait for each other in a circle.
        of_event.sort_by_key(|(_, id)| *id);
        for (settling, id) in of_event {
            rows.ids.push(id.clone());
            rows.reasons.push(settling.settlement.reason.take());
            rows.delays.push(settling.settlement.delay);
        }
        if !rows.ids.is_empty() {
            write(chain, event, many, rows).await?;
            end = End::Commit;
        }
    }
    // Before the rows are free again.
    for (n, settling) in settlings.iter().enumerate() {
        if let Some(pause) = settling.pause {
            chain.leave_out(chain.ids[n].clone(), pause);
        }
    }
    match chain.end(end).await {
        Ok(()) => Ok(()),
        // A constraint or a trigger that waited for the end.
        Err(failure) => Err(refused(chain, None, failure)),
    }
}

/// Writes one kind of outcome; without its reasons where the database refuses their text.
async fn write<DB: Backend, T: TableOn<DB>>(
    chain: &mut Chain<'_, DB, T>,
    event: Event,
    many: &Many,
    mut rows: RowsOf<T::Id>,
) -> Result<(), Refused> {
    let texts = chain.locks.texts;
    let reasons = rows.reasons.iter().any(Option::is_some) && T::TABLE.has(Role::LastError);
    if reasons {
        chain.session.run("mark", texts.mark).await?;
    }
    match send(chain, many, &rows).await {
        Err(failure) if reasons && failure.fault == Fault::Data => {
            chain.session.run("undo", texts.undo).await?;
            rows.reasons.iter_mut().for_each(|reason| *reason = None);
            let sent = send(chain, many, &rows).await;
            conclude(chain, event, &rows, sent)
        }
        sent => conclude(chain, event, &rows, sent),
    }
}

/// Sends one statement and returns the ids of the rows that it changed.
async fn send<DB: Backend, T: TableOn<DB>>(
    chain: &mut Chain<'_, DB, T>,
    many: &Many,
    rows: &RowsOf<T::Id>,
) -> Result<Vec<T::Id>, Failure> {
    let values = chain.locks.subscription.values::<T::Id>();
    let query = bind_many(many, &values, rows.ids.len(), rows)?;
    let name = query.name;
    let changed = chain.session.rows(query).await?;
    let ids: sqlx::Result<Vec<_>> = changed.iter().map(|row| T::Id::read(row, 0)).collect();
    ids.map_err(|error| Failure::new::<DB>(name, error))
}

/// What an answer tells of its rows.
fn conclude<DB: Backend, T: TableOn<DB>>(
    chain: &mut Chain<'_, DB, T>,
    event: Event,
    rows: &RowsOf<T::Id>,
    sent: Result<Vec<T::Id>, Failure>,
) -> Result<(), Refused> {
    let mut changed = sent.map_err(|failure| refused(chain, Some(event), failure))?;
    changed.sort_unstable();
    // Nobody else can have changed a row that we have locked: a trigger or a rule keeps it as it is.
    let kept = rows.ids.iter().filter(|id| changed.binary_search(id).is_err());
    for id in kept {
        telemetry::without_effect(T::TABLE.name(), id, event.name());
        chain.leave_out(id.clone(), LEFT_ALONE);
    }
    Ok(())
}

/// Decides what a refusal costs: a batch is undone, and its rows are claimed one by one; a row that
/// stands alone is left alone for a while.
fn refused<DB: Backend, T: TableOn<DB>>(
    chain: &mut Chain<'_, DB, T>,
    event: Option<Event>,
    failure: Failure,
) -> Refused {
    let subscription = &chain.locks.subscription;
    let pause = match failure.fault {
        Fault::Data => LEFT_ALONE,
        // Somebody else has locked what the row points to.
        Fault::Blocked => subscription.settings.poll_interval,
        fault if are_dead_letters(subscription, event, fault) => LEFT_ALONE,
        Fault::Transient | Fault::Connection | Fault::Schema | Fault::Full => {
            return Refused::Failed(failure);
        }
    };
    if let [id] = &chain.ids[..] {
        let id = id.clone();
        tell_refused(subscription, event, &chain.ids, &failure);
        chain.leave_out(id, pause);
    } else {
        chain.locks.claim_singly(chain.ids.len());
    }
    Refused::Rows
}
