//! Publishing through a broker: single publishes of many tasks at the same time share statements.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::field::Data;
use super::inserted::{Inserted, Place};
use super::message::{Message, failed, ids, names};
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
            tokio::spawn(async move { inner.flush().await });
        }
        receiver.await.unwrap_or(Err(SqlxBrokerError::Closed))
    }
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
                // Whether the rows are there is not known: sent again, they might be there twice.
                Err(error) if error.is_transient() => {
                    let shared = Arc::new(error);
                    for pending in pending {
                        let _ = pending.answer.send(Err(SqlxBrokerError::Publish {
                            table: T::TABLE.to_string(),
                            source: Box::new(Arc::clone(&shared)),
                            transient: true,
                        }));
                    }
                    return;
                }
                // One message that the database refuses must not cost the others theirs.
                Err(_) => {}
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
    ) -> Result<Vec<Inserted<T::Id>>, SqlxBrokerError> {
        let names = names::<T>()?;
        let place = Place::new(names.table(), group.clone());
        let messages = Messages::<T>::of(payloads, group, delay);
        let Some((name, sql, arguments)) = messages.query::<DB>(&names, &self.shared.clock)? else {
            return Ok(Vec::new());
        };
        let rows = self.rows(Query { name, sql, arguments }).await?;
        place.wake();
        let ids = ids::<DB, T>(&rows)?.into_iter();
        Ok(ids.map(|id| Inserted { id, place: place.clone() }).collect())
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
