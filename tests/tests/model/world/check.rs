//! What must hold after each step: the promises.

use queue_table::__private::lease::{Event, Found, IdOn};

use super::super::row::{Asked, End};
use super::super::server::Staged;
use super::super::shape::Shape;
use super::flight::State;
use super::{World, Wrong};

impl<DB: Staged, S: Shape> World<'_, DB, S>
where
    S::Id: IdOn<DB>,
{
    pub(super) async fn check_table(&mut self) -> Result<(), Wrong> {
        let table = self.server.table().await?;
        let expected = self.model.stored().map(|(n, stored)| (n, stored.clone())).collect();
        if table != expected {
            let differ = |n: &&i64| table.get(*n) != expected.get(*n);
            let n = table.keys().chain(expected.keys()).find(differ).copied().unwrap_or_default();
            let (is, must) = (table.get(&n), expected.get(&n));
            return Err(format!("row {n} is {is:?}\n  and must be {must:?}").into());
        }
        Ok(())
    }

    /// Whoever has the token and the count of a row must be who owns it.
    pub(super) fn check_beliefs(&self) -> Result<(), Wrong> {
        for (process, at) in self.processes.iter().zip(0..) {
            for belief in process.beliefs.values().filter(|belief| belief.is_alive()) {
                let owner = self.model.owner(belief.n);
                let current = self.model.is_current(belief.n, belief.token, belief.attempt + 1);
                if current && owner != Some(belief.delivery) {
                    let (n, delivery) = (belief.n, belief.delivery);
                    let text = format!(
                        "p{at} could settle row {n} for delivery {delivery}, which {owner:?} owns"
                    );
                    return Err(text.into());
                }
            }
        }
        Ok(())
    }

    /// Nothing else may be on its way for a delivery, and what is unknown is never released.
    pub(super) fn alone(&self, asked: &[Asked], event: Option<Event>) -> Result<(), Wrong> {
        for Asked { n, delivery, .. } in asked {
            let earlier = self
                .flights
                .iter()
                .find(|flight| flight.process.is_some() && flight.is_of(*delivery));
            let Some(earlier) = earlier else { continue };
            let what = event.map_or("renewed", |event| match event {
                Event::Ack => "settled",
                _ => "released",
            });
            let state = match earlier.state {
                State::Unknown => "of which nobody knows whether it ran",
                State::Sent | State::Ran(_) => "which is not answered",
            };
            let name = earlier.name();
            return Err(format!("row {n} is {what} after a {name} {state}").into());
        }
        Ok(())
    }

    /// A process calls a delivery done: its outcome must be in the table, if the user did not delete
    /// the row. Whose clock was set back since the claim cannot know that, and nothing depends on it.
    pub(super) fn is_done(&self, asked: &Asked) -> Result<(), Wrong> {
        let Asked { n, delivery, .. } = asked;
        let set_back = self.born.get(delivery) != Some(&self.setbacks);
        match self.model.end(*n) {
            Some(End::Deleted) => Ok(()),
            _ if set_back || self.model.is_written(*delivery) => Ok(()),
            end => Err(format!("delivery {delivery} of row {n} is called done: {end:?}").into()),
        }
    }

    /// A process gives a delivery up: the row must be somebody else's, or nobody's, and not ended by
    /// this delivery while its lease was in force. Where a statement of the delivery gave no answer,
    /// it may have another token than its process knows.
    pub(super) fn is_lost(&self, process: usize, asked: &Asked, found: Found) -> Result<(), Wrong> {
        let Asked { n, delivery, token, .. } = asked;
        let owns = self.model.owner(*n) == Some(*delivery);
        let knows =
            !self.unsure.contains(delivery) || self.model.is_current(*n, *token, asked.attempt);
        if owns && knows {
            return Err(format!("p{process} gives up row {n}, which it owns").into());
        }
        let ended = self.model.end(*n) == Some(End::Acked(*delivery));
        if ended && found == (Found::Gone { in_force: true }) {
            return Err(format!("p{process} gives up row {n}, which it acked in time").into());
        }
        Ok(())
    }

    /// A process takes a lease over that it looked up.
    pub(super) fn is_taken_over(&self, process: usize, asked: &Asked) -> Result<(), Wrong> {
        let Asked { n, delivery, .. } = asked;
        match self.model.owner(*n) == Some(*delivery) {
            true => Ok(()),
            false => Err(format!("p{process} takes over a lease of row {n}").into()),
        }
    }
}
