//! Handlers of batches: every argument and every answer, and a plain call in a test.

use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job, Plain, on_postgres, on_sqlite};

#[subscriber(Job, group = "mail", batch = 100)]
pub(crate) async fn store(emails: &[Email]) -> Vec<Outcome> {
    emails
        .iter()
        .map(|email| if email.to.is_empty() { Outcome::drop() } else { Outcome::ack() })
        .collect()
}

#[subscriber(Job, group = "mail", batch = 2, workers = 1)]
async fn look(lost: CancellationToken, jobs: &[Job], State(limit): State<usize>) -> Outcome {
    if lost.is_cancelled() || jobs.len() > limit { Outcome::retry() } else { Outcome::ack() }
}

#[subscriber(Plain, batch = 10000)]
async fn sweep(_rows: &[Plain]) {}

#[subscriber(Job, group = "mail", batch = 100)]
async fn fallible(emails: &[Email]) -> Result<Vec<Outcome>, String> {
    emails.first().map(|_| Vec::new()).ok_or_else(|| "nothing".to_owned())
}

fn settle(_: &String, meta: &Meta) -> Outcome {
    if meta.attempt() < 3 { Outcome::retry() } else { Outcome::drop() }
}

#[subscriber(Job, group = "mail", batch = 100, on_error = settle)]
async fn decided(emails: &[Email]) -> Result<(), String> {
    fallible(emails).await.map(drop)
}

#[test]
fn it_is_called_like_any_other() {
    let email = |to: &str| Email { to: to.to_owned() };
    let (a, b) = (email("you"), email(""));
    assert_eq!(super::now(store(&[a, b])), [Outcome::ack(), Outcome::drop()]);
    assert_eq!(super::now(decided(&[])), Err("nothing".to_owned()));
    let lost = CancellationToken::new();
    assert_eq!(super::now(look(lost, &[], State(0))), Outcome::ack());
}

#[test]
fn all_of_them_can_be_mounted() {
    on_sqlite(|b| {
        b.mount(store);
        b.mount(look.batch(3).workers(2));
        b.mount(sweep);
    });
    on_postgres(|b| {
        b.mount(fallible.workers(2).batch(3));
        b.mount(decided);
    });
}
