//! A point on a future's way at which it is dropped.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// More polls than any of these futures takes; one that takes more spins.
const MOST_POLLS: usize = 500;

/// After how many polls a future is dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) polls: usize,
    /// Not right after the last poll but when the next one is due: what the future waited for has
    /// happened, and nobody hears of it.
    woken: bool,
}

/// Polls a future to a point and drops it there. Its value, if it was ready before.
pub(crate) async fn drop_at<F: Future>(future: F, point: Point) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(|cx| {
        if polls == point.polls {
            return Poll::Ready(None);
        }
        polls += 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if polls == point.polls && !point.woken => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Goes through every point until the future was ready, which `once` tells.
pub(crate) async fn at_every_point(mut once: impl AsyncFnMut(Point) -> bool) {
    for woken in [false, true] {
        let mut polls = 0;
        while !once(Point { polls, woken }).await {
            polls += 1;
            assert!(polls < MOST_POLLS, "not ready after {MOST_POLLS} polls");
        }
    }
}
