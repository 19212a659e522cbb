//! The expansions as a whole.

use insta::assert_snapshot;

use super::{handler, table};

pub(super) const EMAIL_JOB: &str = r#"
    #[queue_table(name = "email_jobs")]
    struct EmailJob {
        #[queue(id)] id: i64,
        #[queue(group)] kind: String,
        #[queue(attempt)] attempt: i32,
        #[queue(retry_after)] retry_after: Option<DateTime<Utc>>,
        #[queue(locked_until)] locked_until: Option<DateTime<Utc>>,
        #[queue(payload)] payload: Vec<u8>,
        account_id: Option<i64>,
    }
"#;

const SMALLEST: &str = r#"
    #[queue_table(name = "ticks")]
    struct Tick {
        #[queue(id)] id: i64,
        #[queue(locked_until)] locked_until: Option<DateTime<Utc>>,
    }
"#;

pub(super) const EVERYTHING: &str = r##"
    #[queue_table(name = "email jobs", schema = "app")]
    #[sqlx(rename_all = "camelCase")]
    pub(crate) struct EmailJob {
        #[queue(id)] pub id: Uuid,
        #[queue(group)] kind: String,
        #[queue(attempt)] attempt: i16,
        #[queue(retry_after)] retry_after: DateTime<Utc>,
        #[queue(locked_until)] locked_until: Option<DateTime<Utc>>,
        #[queue(processed_at)] processed_at: Option<DateTime<Utc>>,
        #[queue(last_error)] #[sqlx(rename = "why", default)] last_error: Option<String>,
        #[queue(payload)] r#type: Json<Email>,
        /// A comment, and an attribute of somebody else.
        #[serde(default)] pub account_id: Option<i64>,
        r#in: bool,
        #[sqlx(skip)] cached: Option<String>,
    }
"##;

#[test]
fn a_table_of_the_design() {
    assert_snapshot!(table(EMAIL_JOB));
}

#[test]
fn a_table_with_only_what_it_must_have() {
    assert_snapshot!(table(SMALLEST));
}

#[test]
fn a_table_with_everything() {
    assert_snapshot!(table(EVERYTHING));
}

#[test]
fn a_table_of_row_locks() {
    assert_snapshot!(table(
        "#[queue_table(name = \"ticks\")] struct Tick { #[queue(id)] id: i64 }"
    ));
}

#[test]
fn a_wrong_table() {
    assert_snapshot!(table(
        r#"
        #[queue_table(name = "email_jobs")]
        struct EmailJob { #[queue(idd)] id: i64, account_id: Option<i64> }
        "#
    ));
}

const SEND: &str = "async fn send(email: &Email, Ctx(attempt): Ctx<keys::Attempt>) -> Outcome {
    Outcome::ack()
}";

#[test]
fn a_subscriber_of_the_design() {
    let arguments = r#"EmailJob, group = "welcome", workers = 16, max_attempts = 5, dead_letter(group = "failed")"#;
    assert_snapshot!(handler(arguments, SEND));
}

#[test]
fn a_subscriber_whose_dead_letters_have_a_table() {
    let arguments = "EmailJob, max_attempts = 5, dead_letter(table = dead::EmailJob)";
    assert_snapshot!(handler(arguments, SEND));
}

#[test]
fn a_subscriber_with_only_what_it_must_have() {
    assert_snapshot!(handler("Tick", "async fn tick() {}"));
}

pub(super) const EVERY_KEY: &str = r#"jobs::EmailJob, group = "welcome", workers = 16,
    poll_interval = "500ms", lease = "1m", timeout = "10s", max_attempts = 5,
    dead_letter(group = "failed"), on_error = errors::settle::<Error, Why>,
    on_decode_failure = retry_after("1h")"#;

pub(super) const EVERY_ARGUMENT: &str = r#"
    /// Sends what is due.
    #[cfg(feature = "mail")]
    #[tracing::instrument(skip_all)]
    #[deprecated]
    pub(crate) async fn r#final(
        State(mailer): State<Mailer>,
        #[allow(unused_mut)] mut job: &EmailJob,
        Ctx(attempt): Ctx<keys::Attempt>,
    ) -> Result<(), Error> {
        mailer.send(job).await
    }
"#;

#[test]
fn a_subscriber_with_everything() {
    assert_snapshot!(handler(EVERY_KEY, EVERY_ARGUMENT));
}

#[test]
fn a_subscriber_of_batches() {
    let store = "pub async fn store(rows: &[Job], lost: CancellationToken) -> Vec<Outcome> {
        Vec::new()
    }";
    assert_snapshot!(handler("Job, batch = 100", store));
}

#[test]
fn a_subscriber_with_a_wrong_key() {
    assert_snapshot!(handler(r#"EmailJob, group = "welcome", wokers = 3"#, SEND));
}

#[test]
fn a_subscriber_with_a_wrong_head() {
    assert_snapshot!(handler(r#"EmailJob, group = "welcome""#, "fn send(email: &Email) {}"));
}
