//! Rows that go to another table, where a database does not move them in one statement.

use super::connections::stopped;
use super::{Backend, Connections, Failure, Fault, IdOn, Query, Session, Urgency};
use crate::dialect::Transaction;

/// The statements of one transaction, with their values.
pub(crate) struct Transfer<DB: Backend> {
    pub(crate) transaction: Transaction,
    pub(crate) copy: Query<DB>,
    pub(crate) delete: Query<DB>,
}

impl<DB: Backend> Connections<DB> {
    /// Copies rows and deletes them in one transaction, and returns their ids.
    ///
    /// Dropping the future does not drop the transaction: only its answer is lost.
    pub(crate) async fn transfer<Id: IdOn<DB> + Ord + Send + 'static>(
        &self,
        urgency: Urgency,
        transfer: Transfer<DB>,
    ) -> Result<Vec<Id>, Failure> {
        let connections = self.clone();
        let name = transfer.copy.name;
        // One task owns the connection from the begin to the end.
        let task = tokio::spawn(async move {
            let mut session = connections.session(urgency).await?;
            let Transaction { begin, rollback, .. } = transfer.transaction;
            if let Err(failure) = session.run("begin", begin).await {
                session.give_back().await;
                return Err(failure);
            }
            let moved = moved::<DB, Id>(&mut session, transfer).await;
            if moved.is_ok() || session.run("rollback", rollback).await.is_ok() {
                session.give_back().await;
            }
            // Else it is closed: nobody knows what is open on it.
            moved
        });
        task.await.unwrap_or_else(|_| Err(stopped(name)))
    }
}

/// Runs both statements, and commits if they are about the same rows.
async fn moved<DB: Backend, Id: IdOn<DB> + Ord>(
    session: &mut Session<DB>,
    transfer: Transfer<DB>,
) -> Result<Vec<Id>, Failure> {
    let Transfer { transaction, copy, delete } = transfer;
    let name = copy.name;
    let copied = ids::<DB, Id>(session, copy).await?;
    let deleted = ids::<DB, Id>(session, delete).await?;
    if copied != deleted {
        // A trigger can leave rows out without an error. They must not be nowhere, or twice there.
        let error = sqlx::Error::Protocol(format!(
            "the table of the dead letters took {} rows, and {} left their own",
            copied.len(),
            deleted.len()
        ));
        return Err(Failure { fault: Fault::Data, statement: name, error });
    }
    session.run("commit", transaction.commit).await?;
    Ok(deleted)
}

async fn ids<DB: Backend, Id: IdOn<DB> + Ord>(
    session: &mut Session<DB>,
    query: Query<DB>,
) -> Result<Vec<Id>, Failure> {
    let name = query.name;
    let rows = session.rows(query).await?;
    let ids: sqlx::Result<Vec<Id>> = rows.iter().map(|row| Id::read(row, 0)).collect();
    let mut ids = ids.map_err(|error| Failure::new::<DB>(name, error))?;
    ids.sort_unstable();
    Ok(ids)
}
