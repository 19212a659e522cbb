//! Waiting for a condition with a deadline: the only place of the tests that sleeps.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Long enough for a loaded machine; only a failing test ever waits for all of it.
const DEADLINE: Duration = Duration::from_secs(20);

const INTERVAL: Duration = Duration::from_millis(5);

/// What a condition answers: `bool`, or an `Option` whose value the test goes on with.
pub trait Answer {
    /// What [`eventually`] returns.
    type Value;

    /// The value, once the condition holds.
    fn held(self) -> Option<Self::Value>;
}

impl Answer for bool {
    type Value = ();

    fn held(self) -> Option<()> {
        self.then_some(())
    }
}

impl<T> Answer for Option<T> {
    type Value = T;

    fn held(self) -> Self {
        self
    }
}

/// Waits until `condition` holds and returns its value; `what` is the sentence of the failure.
pub async fn eventually<A: Answer>(what: &str, condition: impl AsyncFnMut() -> A) -> A::Value {
    eventually_within(DEADLINE, what, condition).await
}

/// [`eventually`] with a deadline of its own, for promises that name a time.
pub async fn eventually_within<A: Answer>(
    deadline: Duration,
    what: &str,
    mut condition: impl AsyncFnMut() -> A,
) -> A::Value {
    let end = Instant::now() + deadline;
    loop {
        if let Some(value) = condition().await.held() {
            return value;
        }
        assert!(Instant::now() < end, "not within {deadline:?}: {what}");
        sleep(INTERVAL).await;
    }
}

/// Asks again and again for `time` and fails at the first moment at which `condition` does not hold.
///
/// For promises that something does not happen; they cost the whole time, so keep it short.
pub async fn stays(what: &str, time: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        assert!(condition().await, "did not stay so: {what}");
        sleep(INTERVAL).await;
    }
}

/// What a handler does that takes its time; no test waits for it to be over.
pub async fn work_for(time: Duration) {
    sleep(time).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_value_is_returned_as_soon_as_it_is_there() {
        let start = Instant::now();
        let mut asked = 0;
        let value = eventually("three questions were asked", async || {
            asked += 1;
            (asked == 3).then_some("answer")
        })
        .await;
        assert_eq!(value, "answer");
        assert!(start.elapsed() < DEADLINE);
    }

    #[tokio::test]
    #[should_panic(expected = "not within 20ms: pigs fly")]
    async fn a_condition_that_never_holds_fails_with_its_sentence() {
        eventually_within(Duration::from_millis(20), "pigs fly", async || false).await;
    }

    #[tokio::test]
    #[should_panic(expected = "did not stay so: nobody answers")]
    async fn a_condition_that_ends_is_seen() {
        let mut asked = 0;
        stays("nobody answers", Duration::from_secs(1), async || {
            asked += 1;
            asked < 10
        })
        .await;
    }
}
