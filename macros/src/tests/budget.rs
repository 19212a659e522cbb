//! How many lines an expansion may have: somebody must be able to read it, and rustc compiles it.

use super::expansion::{EMAIL_JOB, EVERY_ARGUMENT, EVERY_KEY, EVERYTHING};
use super::{formatted, handler, table};

/// The fields of a table of so many columns: an id and a lease, the other roles if there is room,
/// and data columns called `name` of the type `ty`, in both of which `#` is a number.
fn fields(columns: usize, name: &str, ty: &str) -> String {
    const FIRST: [&str; 8] = [
        "#[queue(id)] id: i64",
        "#[queue(locked_until)] locked_until: Option<DateTime<Utc>>",
        "#[queue(group)] kind: String",
        "#[queue(attempt)] attempt: i32",
        "#[queue(retry_after)] retry_after: Option<DateTime<Utc>>",
        "#[queue(processed_at)] processed_at: Option<DateTime<Utc>>",
        "#[queue(last_error)] last_error: Option<String>",
        "#[queue(payload)] payload: Json<Email>",
    ];
    let data = (FIRST.len()..columns).map(|n| {
        let n = n.to_string();
        format!("pub {}: {}", name.replace('#', &n), ty.replace('#', &n))
    });
    let fields: Vec<_> = FIRST.into_iter().map(str::to_owned).chain(data).take(columns).collect();
    fields.join(", ")
}

#[track_caller]
fn assert_table(declaration: &str, columns: usize) {
    let lines = table(declaration).lines().count();
    assert!(lines <= 60 + 3 * columns, "{lines} lines for {columns} columns: {declaration}");
}

#[test]
fn a_table_stays_within_its_lines() {
    assert_table(EMAIL_JOB, 7);
    assert_table(EVERYTHING, 10);
    for (name, ty) in [
        ("column_#", "Option<i64>"),
        // Every type of its own.
        ("a_column_#", "Option<Type#>"),
        ("customer_reference_#", "Option<String>"),
        ("scheduled_at_#", "Option<DateTime<Utc>>"),
    ] {
        // One column is a table without a lease, which there is not yet.
        for columns in 2..=40 {
            let fields = fields(columns, name, ty);
            let place = r#"#[queue_table(name = "jobs", schema = "app")]"#;
            assert_table(&format!("{place} pub struct Job {{ {fields} }}"), columns);
        }
    }
}

/// Without the lines of the user's own function.
#[track_caller]
fn assert_subscriber(arguments: &str, function: &str, extractors: usize) {
    let own = formatted(function.parse().unwrap()).lines().count();
    let lines = handler(arguments, function).lines().count() - own;
    let extra = format!("{extractors} extractors: {arguments} {function}");
    assert!(lines <= 40 + 2 * extractors, "{lines} lines for {extra}");
}

#[test]
fn a_subscriber_stays_within_its_lines() {
    const SOME_KEYS: &str =
        r#"Job, group = "a", workers = 16, max_attempts = 5, dead_letter(group = "failed")"#;
    const DEAD_TABLE: &str = "Job, workers = 16, max_attempts = 5, dead_letter(table = DeadJob)";
    assert_subscriber(EVERY_KEY, EVERY_ARGUMENT, 2);
    for (arguments, name, output) in [
        ("Job", "send", ""),
        ("jobs::EmailJob", "send_welcome_email", "-> Result<(), Error>"),
        (SOME_KEYS, "send_welcome_email", "-> Outcome"),
        (DEAD_TABLE, "send_welcome_email", "-> Outcome"),
        (EVERY_KEY, "send", "-> Result<(), Error>"),
        (EVERY_KEY, "send_welcome_email", "-> Result<(), Error>"),
    ] {
        for extractors in 0..=8 {
            let list: String =
                (0..extractors).map(|n| format!("Ctx(key_{n}): Ctx<keys::Key{n}>,")).collect();
            for message in
                ["", "email: &Email,", "job: &Job,", "emails: &[Email],", "jobs: &[Job],"]
            {
                let function = format!("async fn {name}({message} {list}) {output} {{ body() }}");
                assert_subscriber(arguments, &function, extractors);
            }
        }
    }
}
