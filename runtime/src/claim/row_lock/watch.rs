//! Which of the workers asks the database whether there are rows.

use super::{Chain, RowLocks};
use crate::backend::{Backend, Failure, RowsOf, Urgency, Values, bind, bind_many};
use crate::claim::pace::jittered;
use crate::dialect::ClaimFrom;
use crate::handler::TableOn;

impl<DB: Backend, T: TableOn<DB>> RowLocks<DB, T> {
    /// Waits for rows; `None` when the subscription drains.
    ///
    /// One worker watches and the others wait for it: as soon as it has rows, the next one looks for
    /// more. So a queue that fills up starts all of them, and an idle one is asked once a poll
    /// interval.
    pub(crate) async fn next(&self) -> Option<Chain<'_, DB, T>> {
        let Self { subscription, .. } = self;
        let mut backoff = tokio::select! {
            biased;
            () = subscription.draining.cancelled() => return None,
            backoff = self.watch.lock() => backoff,
        };
        while !subscription.draining.is_cancelled() {
            match self.look().await {
                Ok(Some(chain)) => {
                    backoff.reset();
                    return Some(chain);
                }
                Ok(None) => {
                    backoff.reset();
                    subscription.idle(jittered(subscription.settings.poll_interval)).await;
                }
                Err(failure) => {
                    subscription.failed(failure);
                    self.course.lock().forget();
                    subscription.pause(backoff.pause()).await;
                }
            }
        }
        None
    }

    /// Looks without a transaction, because most looks find nothing; then claims in one.
    async fn look(&self) -> Result<Option<Chain<'_, DB, T>>, Failure> {
        let Self { subscription, statements, .. } = self;
        let values = Values { limit: 1, ..subscription.values::<T::Id>() };
        let left_out = self.left_out();
        let query = if left_out.is_empty() {
            bind::<DB, T::Id>(&statements.first, &values)?
        } else {
            let (claim, rows) = (statements.claims_except.at(ClaimFrom::Start), left_out.len());
            bind_many(claim, &values, rows, &RowsOf::of_ids(left_out))?
        };
        if subscription.connections.rows(Urgency::Claim, query).await?.is_empty() {
            return Ok(None);
        }
        let mut chain = Chain::begin(self).await?;
        let claimed = chain.claim().await;
        // Nothing is started any more in a drain.
        if matches!(claimed, Ok(true)) && !subscription.draining.is_cancelled() {
            return Ok(Some(chain));
        }
        chain.give_back().await;
        claimed.map(|_| None)
    }
}
