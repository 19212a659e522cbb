//! Publishing through a broker: single publishes of many tasks at the same time share statements.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::field::Data;
use super::inserted::{Inserted, Place};
use super::message::{Message, failed, ids, names, refused};
use super::messages::Messages;
use crate::backend::{Backend, PayloadValue, Query, Urgency};
use crate::broker::Shared;
use crate::dialect::Names;
use crate::error::SqlxBrokerError;
use crate::handler::{QueueTable, TableOn};

/// The most rows of one shared statement.
const MAX_ROWS: usize = 512;

type Answer<Id> = Result<Inserted<Id>, SqlxBrokerError>;

/// A message that waits for its statement.
struct Pending<T: QueueTable> {
    message: Message<T>,
    answer: oneshot::Sender<Answer<T::Id>>,
}

struct Queue<T: QueueTable> {
    waiting: Vec<Pending<T>>,
    busy: bool,
}

struct Inner<DB: Backend, T: TableOn<DB>> {
    shared: Arc<Shared<DB>>,
    queue: Mutex<Queue<T>>,
}

/// Publishes to one table through a broker, and wakes this process's subscriptions by itself.
///
/// It is cheap to clone. After the broker's shutdown every publish is refused.
pub struct Publisher<DB: Backend, T: TableOn<DB>> {
    inner: Arc<Inner<DB, T>>,
}

impl<DB: Backend, T: TableOn<DB>> Clone for Publisher<DB, T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<DB: Backend, T: TableOn<DB>> fmt::Debug for Publisher<DB, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("table", &T::TABLE.name()).finish_non_exhaustive()
    }
}

impl<DB: Backend, T: TableOn<DB>> Publisher<DB, T> {
    pub(crate) fn new(shared: Arc<Shared<DB>>) -> Self {
        let queue = Mutex::new(Queue { waiting: Vec::new(), busy: false });
        Self { inner: Arc::new(Inner { shared, queue }) }
    }

    /// Publishes one message, and returns when the commit that holds its row is done.
    ///
    /// Messages without data columns and ids that are published at the same time share a
    /// statement; each gets its own answer.
    ///
    /// # Errors
    /// [`SqlxBrokerError::Closed`] after the broker's shutdown, else those of [`Message::insert`].
    ///
    /// # Cancel safety
    /// The row may or may not be inserted: the statement runs to its end without this future.
    pub async fn publish<D: Data<DB>>(
        &self,
        message: Message<T, D>,
    ) -> Result<Inserted<T::Id>, SqlxBrokerError> {
        if self.inner.shared.is_closed() {
            return Err(SqlxBrokerError::Closed);
        }
        if !D::NONE || message.id.is_some() {
            return self.inner.alone(message).await;
        }
        let (answer, receiver) = oneshot::channel();
        let Message { payload, id, group, delay, columns, data: _ } = message;
        let message = Message { payload, id, group, delay, columns, data: () };
        let starts = {
            let mut queue = self.inner.queue.lock();
            queue.waiting.push(Pending { message, answer });
            !std::mem::replace(&mut queue.busy, true)
        };
        if starts {
            let inner = Arc::clone(&self.inner);
            tokio::spawn(async move {
                // A message's own code runs in there; what it does must not stop the others for ever.
                while AssertUnwindSafe(inner.flush()).catch_unwind().await.is_err() {}
            });
        }
        receiver.await.unwrap_or(Err(SqlxBrokerError::Closed))
    }
}

/// What is known of a statement that gave no answer.
enum Sent {
    /// The database refused it: no row is there.
    Refused,
    /// It ran, or may have run.
    Perhaps,
}

/// A trigger or a rule of the table took some of the rows, so that no id has its message.
fn taken<T: QueueTable>(messages: usize, rows: usize) -> SqlxBrokerError {
    refused::<T>(format!(
        "{messages} messages were sent and {rows} rows inserted: a trigger or a rule took the \
         others, so nobody can say whose they are"
    ))
}

/// What the rows of one statement have in common.
type Alike = (Option<String>, Option<Duration>, bool);

impl<DB: Backend, T: TableOn<DB>> Inner<DB, T> {
    /// Sends what waits, and what gathers meanwhile, until nothing does.
    async fn flush(&self) {
        loop {
            let waiting = {
                let mut queue = self.queue.lock();
                if queue.waiting.is_empty() {
                    queue.busy = false;
                    return;
                }
                std::mem::take(&mut queue.waiting)
            };
            let mut alike: BTreeMap<Alike, Vec<Pending<T>>> = BTreeMap::new();
            for pending in waiting {
                let Message { group, delay, payload, .. } = &pending.message;
                let has_payload = matches!(payload, Ok(Some(_)));
                alike.entry((group.clone(), *delay, has_payload)).or_default().push(pending);
            }
            for ((group, delay, has_payload), mut pending) in alike {
                while !pending.is_empty() {
                    let rest = pending.split_off(pending.len().min(MAX_ROWS));
                    self.send(group.clone(), delay, has_payload, pending).await;
                    pending = rest;
                }
            }
        }
    }

    async fn send(
        &self,
        group: Option<String>,
        delay: Option<Duration>,
        has_payload: bool,
        pending: Vec<Pending<T>>,
    ) {
        if pending.len() > 1 && has_payload {
            let payloads = pending.iter().filter_map(|pending| match &pending.message.payload {
                Ok(payload) => payload.clone(),
                Err(_) => None,
            });
            match self.together(group, delay, payloads.collect()).await {
                Ok(inserted) => {
                    for (pending, inserted) in pending.into_iter().zip(inserted) {
                        // Whoever waited may have stopped waiting; the row is there all the same.
                        let _ = pending.answer.send(Ok(inserted));
                    }
                    return;
                }
                // The rows are there, or may be: sent again, they might be there twice.
                Err((error, Sent::Perhaps)) => {
                    let shared = Arc::new(error);
                    for pending in pending {
                        let _ = pending.answer.send(Err(SqlxBrokerError::Publish {
                            table: T::TABLE.to_string(),
                            transient: shared.is_transient(),
                            source: Box::new(Arc::clone(&shared)),
                        }));
                    }
                    return;
                }
                // One message that the database refuses must not cost the others theirs.
                Err((_, Sent::Refused)) => {}
            }
        }
        for Pending { message, answer } in pending {
            let _ = answer.send(self.alone(message).await);
        }
    }

    async fn together(
        &self,
        group: Option<String>,
        delay: Option<Duration>,
        payloads: Vec<PayloadValue>,
    ) -> Result<Vec<Inserted<T::Id>>, (SqlxBrokerError, Sent)> {
        let refused = |error| (error, Sent::Refused);
        let names = names::<T>().map_err(refused)?;
        let place = Place::new(names.table(), group.clone());
        let rows = payloads.len();
        let messages = Messages::<T>::of(payloads, group, delay);
        let query = messages.query::<DB>(&names, &self.shared.clock).map_err(refused)?;
        let Some((name, sql, arguments)) = query else {
            return Ok(Vec::new());
        };
        let inserted = self.rows(Query { name, sql, arguments }).await.map_err(|error| {
            let sent = if error.is_transient() { Sent::Perhaps } else { Sent::Refused };
            (error, sent)
        })?;
        place.wake();
        let ids = ids::<DB, T>(&inserted).map_err(|error| (error, Sent::Perhaps))?;
        if ids.len() != rows {
            let error = taken::<T>(rows, ids.len());
            return Err((error, Sent::Perhaps));
        }
        Ok(ids.into_iter().map(|id| Inserted { id, place: place.clone() }).collect())
    }

    async fn alone<D: Data<DB>>(&self, message: Message<T, D>) -> Answer<T::Id> {
        let names: Names = names::<T>()?;
        let (name, sql, arguments) = message.query::<DB>(&names, &self.shared.clock)?;
        let place = Place::new(names.table(), message.group);
        let rows = self.rows(Query { name, sql, arguments }).await?;
        place.wake();
        Ok(Inserted { id: ids::<DB, T>(&rows)?.remove(0), place })
    }

    async fn rows(&self, query: Query<DB>) -> Result<Vec<DB::Row>, SqlxBrokerError> {
        if self.shared.is_closed() {
            return Err(SqlxBrokerError::Closed);
        }
        let rows = self.shared.connections.rows(Urgency::Publish, query).await;
        rows.map_err(|failure| match failure.error {
            // The broker was shut down in between; nothing was sent.
            sqlx::Error::PoolClosed => SqlxBrokerError::Closed,
            _ => failed::<T>(failure),
        })
    }
}
