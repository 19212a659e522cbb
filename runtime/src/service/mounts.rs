//! The subscribers of one broker.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Booted, Start};
use crate::backend::Backend;
use crate::broker::{ConnectedSqlxBroker, Running, Shared, SqlxBroker, open};
use crate::error::SqlxBrokerError;
use crate::handler::{BothOrNone, BuriedOn, Mark, Mount, Needs, Settings, States, Subscribed};

type Opening<DB> = Box<
    dyn FnOnce(Arc<Shared<DB>>, States) -> BoxFuture<'static, Result<Start, SqlxBrokerError>>
        + Send,
>;

/// Where subscribers are mounted on a broker: `b.mount(send)`.
pub struct Mounts<DB: Backend> {
    openings: Vec<Opening<DB>>,
}

impl<DB: Backend> fmt::Debug for Mounts<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounts").field("subscribers", &self.openings.len()).finish()
    }
}

impl<DB: Backend> Mounts<DB> {
    pub(super) const fn new() -> Self {
        Self { openings: Vec::new() }
    }

    /// Mounts a subscriber, with the settings of its attribute or with some changed:
    /// `b.mount(send.workers(32))`.
    pub fn mount<Args, M>(&mut self, subscriber: M)
    where
        M: Mount<Args, Subscriber: Mark<Handler: Subscribed<DB>>>,
        (M::Cap, M::Dead): BothOrNone,
        M::Dead: BuriedOn<DB>,
    {
        let settings = subscriber.mounted().settings;
        self.openings.push(Box::new(move |shared, states| {
            Box::pin(opening::<DB, <M::Subscriber as Mark>::Handler>(shared, settings, states))
        }));
    }

    /// Connects the broker and opens its subscriptions one after the other. All errors are
    /// collected, not only the first.
    pub(super) async fn boot(self, broker: impl Source<DB>, states: States) -> Booted {
        let broker = match broker.connected().await {
            Ok(broker) => broker,
            Err(error) => {
                return Booted { starts: Vec::new(), shutdown: None, errors: vec![error] };
            }
        };
        let mut starts = Vec::new();
        let mut errors = Vec::new();
        for opening in self.openings {
            match opening(Arc::clone(&broker.shared), states.clone()).await {
                Ok(start) => starts.push(start),
                Err(error) => errors.push(error),
            }
        }
        let shutdown: BoxFuture<'static, ()> = Box::pin(async move {
            broker.shutdown().await;
        });
        Booted { starts, shutdown: Some(shutdown), errors }
    }
}

async fn opening<DB: Backend, S: Subscribed<DB>>(
    shared: Arc<Shared<DB>>,
    settings: Settings,
    states: States,
) -> Result<Start, SqlxBrokerError> {
    let mut needs = Needs::default();
    S::needs(&mut needs);
    let opened = open::<DB, S::Row>(&shared, settings, &needs, &states).await?;
    Ok(Box::new(move |stop| Running::start::<DB, S>(opened, stop)))
}

/// A broker that a service can be given: before or after `connect`.
pub trait Source<DB: Backend>: sealed::Sealed + Send + 'static {
    /// Connects the broker, if it is not.
    #[doc(hidden)]
    fn connected(
        self,
    ) -> impl Future<Output = Result<ConnectedSqlxBroker<DB>, SqlxBrokerError>> + Send;
}

impl<DB: Backend, P: 'static> Source<DB> for SqlxBroker<DB, P> {
    async fn connected(self) -> Result<ConnectedSqlxBroker<DB>, SqlxBrokerError> {
        self.connect().await
    }
}

impl<DB: Backend> Source<DB> for ConnectedSqlxBroker<DB> {
    async fn connected(self) -> Result<Self, SqlxBrokerError> {
        Ok(self)
    }
}

mod sealed {
    /// Only brokers are sources.
    pub trait Sealed {}
    impl<DB: crate::backend::Backend, P> Sealed for crate::broker::SqlxBroker<DB, P> {}
    impl<DB: crate::backend::Backend> Sealed for crate::broker::ConnectedSqlxBroker<DB> {}
}
