//! Comments and attributes of others stay where they belong.
#![deny(deprecated, unfulfilled_lint_expectations)]

use queue_table::prelude::*;
use queue_table_ui_tests::Job;

/// A comment.
#[derive(Debug, QueueTable, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[queue_table(name = "notes")]
#[non_exhaustive]
pub(crate) struct Note {
    /// The key.
    #[serde(skip)]
    #[queue(id)]
    id: i64,
    #[cfg(not(any()))]
    #[queue(locked_until)]
    locked_until: Option<i64>,
    #[cfg(any())]
    #[queue(idd)]
    of_another_platform: Missing,
    #[deprecated]
    old: Option<String>,
}

/// Sends what is due.
#[subscriber(Job, group = "mail")]
#[deprecated = "use `send_better`"]
#[inline(never)]
#[expect(clippy::needless_return, reason = "it is the body's")]
async fn send(#[allow(unused_mut, reason = "a test")] mut job: &Job) {
    let _ = job;
    return;
}

#[subscriber(Job, group = "mail")]
#[cfg(any())]
async fn of_another_platform(job: &Missing) {}

#[cfg_attr(not(any()), subscriber(Job, group = "mail"))]
#[allow(unused_variables, reason = "the handler looks at nothing")]
async fn with_unused(job: &Job, lost: CancellationToken) {}

#[test]
fn what_is_left_can_be_mounted() {
    queue_table_ui_tests::on_sqlite(|b| {
        #[expect(deprecated, reason = "the attribute stays with the function")]
        b.mount(send);
        b.mount(with_unused);
    });
}
