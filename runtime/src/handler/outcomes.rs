//! What a handler says about a batch of rows.

use std::fmt::Display;

use super::Outcome;

/// What a handler says about the rows of one call.
#[derive(Debug)]
#[doc(hidden)]
pub enum Outcomes {
    /// The same for all of them.
    All(Outcome),
    /// One a row, in their order.
    Each(Vec<Outcome>),
}

impl From<Outcome> for Outcomes {
    fn from(outcome: Outcome) -> Self {
        Self::All(outcome)
    }
}

/// What each row of a call said, without a list of its own where all said the same.
enum Said {
    All(std::iter::RepeatN<Outcome>),
    Each(std::vec::IntoIter<Outcome>),
}

impl Iterator for Said {
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        match self {
            Self::All(outcomes) => outcomes.next(),
            Self::Each(outcomes) => outcomes.next(),
        }
    }
}

/// What became of a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowOutcome {
    pub(crate) outcome: Outcome,
    /// No handler was called for it, because it could not be decoded.
    pub(crate) undecodable: bool,
}

impl Outcomes {
    /// One outcome for each of `rows` rows. Those that no handler was called for have theirs in
    /// `undecodable`, in order.
    pub(crate) fn of_rows(
        self,
        rows: usize,
        undecodable: Vec<(usize, Outcome)>,
    ) -> impl Iterator<Item = RowOutcome> {
        let decoded = rows - undecodable.len();
        let mut said = match self {
            Self::All(outcome) => Said::All(std::iter::repeat_n(outcome, decoded)),
            Self::Each(outcomes) if outcomes.len() == decoded => Said::Each(outcomes.into_iter()),
            Self::Each(outcomes) => {
                let said = outcomes.len();
                let reason = format_args!(
                    "the handler returned {said} outcomes for {decoded} rows; return one a row"
                );
                Said::All(std::iter::repeat_n(Outcome::retry().because(reason), decoded))
            }
        };
        let mut undecodable = undecodable.into_iter().peekable();
        (0..rows).map_while(move |n| match undecodable.next_if(|(at, _)| *at == n) {
            Some((_, outcome)) => Some(RowOutcome { outcome, undecodable: true }),
            None => said.next().map(|outcome| RowOutcome { outcome, undecodable: false }),
        })
    }
}

/// What a batch handler can return: one outcome for all of its rows, or `Vec<Outcome>`, one a row.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens to the rows of a batch",
    label = "not an outcome of a batch",
    note = "return `Vec<Outcome>` (one a row), `Outcome` or `()` (for all rows), or a `Result` of one of them with an error that implements `Display` (retry)"
)]
pub trait IntoOutcomes {
    /// Turns the returned value into outcomes.
    #[doc(hidden)]
    fn into_outcomes(self) -> Outcomes;
}

impl IntoOutcomes for Outcome {
    fn into_outcomes(self) -> Outcomes {
        Outcomes::All(self)
    }
}

impl IntoOutcomes for () {
    fn into_outcomes(self) -> Outcomes {
        Outcomes::All(Outcome::ack())
    }
}

impl IntoOutcomes for Vec<Outcome> {
    fn into_outcomes(self) -> Outcomes {
        Outcomes::Each(self)
    }
}

#[diagnostic::do_not_recommend]
impl<O: IntoOutcomes, E: Display> IntoOutcomes for Result<O, E> {
    fn into_outcomes(self) -> Outcomes {
        match self {
            Ok(value) => value.into_outcomes(),
            Err(error) => Outcomes::All(Outcome::retry().because(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Outcomes, RowOutcome};

    fn of_rows(said: Outcomes, rows: usize, undecodable: Vec<(usize, Outcome)>) -> Vec<Outcome> {
        said.of_rows(rows, undecodable).map(|RowOutcome { outcome, .. }| outcome).collect()
    }

    #[test]
    fn rows_that_were_not_decoded_keep_their_own_outcomes() {
        let each = Outcomes::Each(vec![Outcome::ack(), Outcome::retry()]);
        let undecodable = vec![(0, Outcome::drop()), (2, Outcome::dead_letter())];
        let verdicts: Vec<_> = each.of_rows(4, undecodable).collect();
        let expected = [
            (Outcome::drop(), true),
            (Outcome::ack(), false),
            (Outcome::dead_letter(), true),
            (Outcome::retry(), false),
        ];
        let expected = expected.map(|(outcome, undecodable)| RowOutcome { outcome, undecodable });
        assert_eq!(verdicts, expected);
    }

    #[test]
    fn one_outcome_is_for_all() {
        let outcomes = of_rows(Outcomes::All(Outcome::retry()), 3, vec![(1, Outcome::drop())]);
        assert_eq!(outcomes, [Outcome::retry(), Outcome::drop(), Outcome::retry()]);
    }

    #[test]
    fn a_wrong_number_is_a_retry_of_all_with_the_reason() {
        let outcomes = of_rows(Outcomes::Each(vec![Outcome::ack()]), 2, Vec::new());
        let reason = "the handler returned 1 outcomes for 2 rows; return one a row";
        assert_eq!(outcomes, vec![Outcome::retry().because(reason); 2]);
    }
}
