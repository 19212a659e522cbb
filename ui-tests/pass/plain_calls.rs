//! A subscriber stays a function: a test calls it.

use queue_table::prelude::*;
use queue_table_ui_tests::{Email, Job};

#[subscriber(Job, group = "mail")]
async fn send(email: &Email, Ctx(attempt): Ctx<keys::Attempt>) -> Result<Outcome, String> {
    match attempt {
        1 => Ok(Outcome::ack()),
        _ => Err(format!("{} was told {attempt} times", email.to)),
    }
}

#[test]
fn it_is_called_like_any_other() {
    let email = Email { to: "you".to_owned() };
    assert_eq!(super::now(send(&email, Ctx(1))), Ok(Outcome::ack()));
    let refused = super::now(async { send(&email, Ctx(2)).await });
    assert_eq!(refused, Err("you was told 2 times".to_owned()));
}

/// The future lives as long as the message, and no longer.
async fn through_another_function(email: &Email) -> bool {
    send(email, Ctx(1)).await.is_ok()
}

#[test]
fn it_can_be_awaited_by_another_task() {
    fn is_send<F: Future + Send>(future: F) -> F {
        future
    }
    let email = Email { to: String::new() };
    assert!(super::now(is_send(through_another_function(&email))));
}
