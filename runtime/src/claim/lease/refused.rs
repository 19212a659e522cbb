//! Stepping past a row whose claim the database refuses: a check that the row breaks, a trigger.

use std::time::{Duration, Instant};

use super::claimer::{Claimer, Round};
use crate::backend::{Backend, Failure, Fault, IdOn, RowsOf, Urgency, bind, bind_rows};
use crate::claim::course::Place;
use crate::dialect::ClaimFrom;
use crate::handler::TableOn;
use crate::telemetry;

/// How long a row is left out before it is tried again, alone.
const PAUSE: Duration = Duration::from_secs(60);

impl<DB: Backend, T: TableOn<DB>> Claimer<'_, DB, T> {
    /// A claim of `limit` rows was refused for the data of one: claims the rows before that one by
    /// halves, and leaves it out for a while.
    ///
    /// The failure comes back if no row is to blame, or if none was claimed and none was found.
    pub(super) async fn step_past(
        &mut self,
        from: ClaimFrom,
        after: Option<&Place<T::Id>>,
        limit: usize,
        refused: Failure,
    ) -> Result<Round, Failure> {
        // If a claim of no row is refused too, it is for what all claims have in common.
        self.claim(from, after, 0).await?;
        let mut claimed = 0;
        // The row is among so many from the start on.
        let mut within = limit;
        while within > 1 {
            if self.leases.subscription.draining.is_cancelled() {
                return Ok(Round::More);
            }
            let half = within / 2;
            match self.claim(from, after, half).await {
                Ok(brought) => {
                    claimed += brought.rows;
                    within -= half;
                    if brought.rows < half {
                        // Somebody else has claimed, or changed, what was behind.
                        return more_if(claimed > 0, refused);
                    }
                }
                Err(failure) if failure.fault == Fault::Data => within = half,
                Err(failure) => return Err(failure),
            }
        }
        // What is first now need not be what was refused. Alone it is refused, or was not to blame.
        let Some(id) = self.first(from, after).await? else {
            return more_if(claimed > 0, refused);
        };
        match self.claim_one(&id).await {
            Ok(rows) => more_if(claimed + rows > 0, refused),
            Err(failure) if failure.fault == Fault::Data => Ok(self.leave_out(id, &failure)),
            Err(failure) => Err(failure),
        }
    }

    /// Claims a row that was left out long enough. Until that succeeds no other row has to do with it.
    pub(super) async fn try_again(&mut self, id: T::Id) -> Result<Round, Failure> {
        match self.claim_one(&id).await {
            // If it was not there, it is gone, or somebody else has it.
            Ok(_) => {
                self.avoided.forget(&id);
                Ok(Round::More)
            }
            Err(failure) if failure.fault == Fault::Data => Ok(self.leave_out(id, &failure)),
            Err(failure) => Err(failure),
        }
    }

    fn leave_out(&mut self, id: T::Id, failure: &Failure) -> Round {
        telemetry::claim_refused(T::TABLE.name(), &id, &failure.error);
        let until = Instant::now() + PAUSE;
        self.leases.subscription.due.lock().remember(until);
        match self.avoided.leave_out(id, self.leases.subscription.clock.at(until)) {
            true => Round::Crowded,
            false => Round::More,
        }
    }

    /// The first row that a claim would take now.
    async fn first(
        &self,
        from: ClaimFrom,
        after: Option<&Place<T::Id>>,
    ) -> Result<Option<T::Id>, Failure> {
        let statement = self.leases.statements.firsts.at(from);
        // Those that are left out may come before it.
        let values = self.values(after, self.avoided.len() + 1);
        let query = bind::<DB, T::Id>(statement, &values)?;
        let rows = self.leases.subscription.connections.rows(Urgency::Claim, query).await?;
        let mut ids = rows.iter().filter_map(|row| T::Id::read(row, 0).ok());
        Ok(ids.find(|id| !self.avoided.contains(id)))
    }

    /// Claims one row, and says how many that were.
    async fn claim_one(&mut self, id: &T::Id) -> Result<usize, Failure> {
        let statement = &self.leases.statements.claim_one;
        let row = RowsOf::of_ids(vec![id.clone()]);
        let query = bind_rows::<DB, T::Id>(
            statement,
            &self.leases.subscription.values::<T::Id>(),
            1,
            1,
            &row,
        )?;
        Ok(self.take(query).await?.rows)
    }
}

/// Goes on at once if that came to something.
fn more_if(something: bool, refused: Failure) -> Result<Round, Failure> {
    match something {
        true => Ok(Round::More),
        false => Err(refused),
    }
}
