//! What a wrong subscriber is told, and that it is right once the advice is followed.

use crate::subscriber::mistakes;

const SEND: &str = "async fn send(email: &Email) -> Outcome { Outcome::ack() }";

/// `at` is what the error underlines.
#[track_caller]
pub(super) fn refuses(arguments: &str, function: &str, at: &str, message: &str) {
    let expected = vec![format!("{at} -> {message}")];
    let mistakes = mistakes(arguments.parse().unwrap(), &function.parse().unwrap());
    assert_eq!(mistakes, expected, "{arguments} {function}");
}

#[track_caller]
pub(super) fn refuses_key(arguments: &str, at: &str, message: &str) {
    refuses(&format!("Job, {arguments}"), SEND, at, message);
}

#[track_caller]
pub(super) fn accepts(arguments: &str, function: &str) {
    let mistakes = mistakes(arguments.parse().unwrap(), &function.parse().unwrap());
    assert!(mistakes.is_empty(), "{mistakes:?} in {arguments} {function}");
}

#[test]
fn every_mistake_has_its_message() {
    let arguments = r#"Job, grup = "a", workers = 0, lease = "30""#;
    let function = "fn send(email: &mut Email, other: &Email) {}";
    let lines = mistakes(arguments.parse().unwrap(), &function.parse().unwrap());
    let firsts: Vec<&str> = lines.iter().filter_map(|line| line.lines().next()).collect();
    assert_eq!(
        firsts,
        [
            "grup -> unknown subscriber key `grup`",
            "0 -> `workers` must be at least 1",
            "\"30\" -> `30` has no unit",
            "fn -> a subscriber is an `async fn`",
            "mut -> a message is read, and `&mut` would change a copy",
            "& Email -> the message was already taken by `email`",
        ]
    );
}

#[test]
fn a_subscriber_names_its_row_first() {
    let help = "help: write `#[subscriber(EmailJob)]` for `struct EmailJob`";
    let missing = format!("the subscriber `send` does not name its row type\n{help}");
    refuses("", SEND, "send", &missing);
    refuses("group = \"a\"", SEND, "send", &missing);
    refuses(
        "group = \"a\", Job",
        SEND,
        "Job",
        "the row type stands first\nhelp: move `Job` to the front",
    );
    for row in ["\"jobs\"", "&Job", "7"] {
        let at = row.replace('&', "& ");
        refuses(row, SEND, &at, &format!("the row type is named by its path\n{help}"));
    }
    accepts("EmailJob", SEND);
    accepts("crate::jobs::EmailJob, group = \"a\",", SEND);
}

#[test]
fn an_unknown_key_names_what_was_meant() {
    let known = "`group`, `workers`, `batch`, `poll_interval`, `lease`, `timeout`, `max_attempts`, \
        `dead_letter`, `on_error`, `on_decode_failure`";
    for (key, help) in [
        ("max_atempts", "there is one with a similar name: `max_attempts`"),
        ("wokers", "there is one with a similar name: `workers`"),
        ("retries", "here it is called `max_attempts`"),
        ("visibility_timeout", "here it is called `lease`"),
        ("concurrency", "here it is called `workers`"),
        ("queue", "here it is called `group`"),
        ("dlq", "here it is called `dead_letter`"),
        (
            "backoff",
            "the handler chooses: `Outcome::retry_after(std::time::Duration::from_secs(60))`",
        ),
        (
            "delay",
            "the handler chooses: `Outcome::retry_after(std::time::Duration::from_secs(60))`",
        ),
        ("attempt", "roles stand on the fields of the row: `#[queue(id)]`"),
        ("colour", &format!("known here: {known}")),
    ] {
        let message = format!("unknown subscriber key `{key}`\nhelp: {help}");
        refuses_key(&format!("{key} = 5"), key, &message);
    }
    refuses_key(
        "\"welcome\"",
        "\"welcome\"",
        &format!("a subscriber does not know what this stands for\nhelp: known here: {known}"),
    );
    refuses_key(
        "group = \"a\", group = \"b\"",
        "group",
        "`group` is given twice\nhelp: keep one of them",
    );
}

#[test]
fn what_is_not_there_yet_says_so_once() {
    let transactional = "`transactional` is not there yet\n\
        help: remove it, and write through a pool: `pool: State<Pool>`";
    refuses_key("transactional", "transactional", transactional);
    let function = "async fn send(email: &Email, tx: Tx<'_, Postgres>) {}";
    refuses("Job, transactional", function, "transactional", transactional);
    refuses(
        "Job",
        function,
        "Tx",
        "`Tx` is not there yet\nhelp: remove it, and write through a pool: `pool: State<Pool>`",
    );
    accepts("Job", "async fn send(email: &Email, pool: State<Pool>) {}");
}

#[test]
fn a_count_is_a_whole_number() {
    for (value, sentence) in [
        ("0", "`workers` must be at least 1"),
        ("1025", "`workers` must be at most 1024"),
        ("99999999999", "`workers` must be at most 1024"),
        ("1.5", "`workers` takes a whole number"),
        ("\"16\"", "`workers` takes a whole number"),
        ("16u8", "`workers` takes a whole number"),
    ] {
        let message = format!("{sentence}\nhelp: write `workers = 16`");
        refuses_key(&format!("workers = {value}"), value, &message);
    }
    refuses_key("workers", "workers", "`workers` needs a value\nhelp: write `workers = 16`");
    accepts("Job, workers = 16", SEND);
    accepts("Job, workers = 1_024", SEND);
}

#[test]
fn a_duration_has_a_number_and_a_unit() {
    let units = "the units are `ms`, `s`, `m` and `h`";
    for (value, sentence, help) in [
        ("30", "`lease` takes a duration in quotes", "30s"),
        ("Duration", "`lease` takes a duration in quotes", "30s"),
        ("\"45\"", "`45` has no unit", "45s"),
        ("\"45 sec\"", &format!("unknown unit `sec` in `45 sec`: {units}"), "45s"),
        ("\"5 minutes\"", &format!("unknown unit `minutes` in `5 minutes`: {units}"), "5m"),
        ("\"5d\"", &format!("unknown unit `d` in `5d`: {units}"), "30s"),
        ("\"1.5s\"", "`1.5s` is not a whole number of its unit", "30s"),
        ("\"soon\"", "`soon` is not a duration, which is a whole number and a unit", "30s"),
        ("\"\"", "`` is not a duration, which is a whole number and a unit", "30s"),
        ("\"0s\"", "`lease` must be longer than zero", "30s"),
        ("\"9999999999h\"", "`9999999999h` is longer than a hundred years", "30s"),
        (
            "\"99999999999999999999s\"",
            "`99999999999999999999s` is longer than a hundred years",
            "30s",
        ),
    ] {
        let message = format!("{sentence}\nhelp: write `lease = \"{help}\"`");
        refuses_key(&format!("lease = {value}"), value, &message);
    }
    for text in ["500ms", "1s", "2m", "2min", "1h"] {
        accepts(
            &format!("Job, poll_interval = {text:?}, lease = {text:?}, timeout = {text:?}"),
            SEND,
        );
    }
}

#[test]
fn a_cap_and_a_dead_letter_stand_together() {
    refuses_key(
        "group = \"a\", max_attempts = 5",
        "max_attempts",
        "`max_attempts` has no place for a row whose attempts are spent\n\
         help: add `dead_letter(group = \"failed\")`",
    );
    refuses_key(
        "max_attempts = 5",
        "max_attempts",
        "`max_attempts` has no place for a row whose attempts are spent\n\
         help: add `dead_letter(table = DeadEmail)`, or `dead_letter(group = \"failed\")` in a table \
         with groups",
    );
    refuses_key(
        "group = \"a\", dead_letter(group = \"failed\")",
        "dead_letter",
        "`dead_letter` does not say after how many attempts\nhelp: add `max_attempts = 5`",
    );
    refuses_key(
        "max_attempts = 5, dead_letter(group = \"failed\")",
        "dead_letter",
        "`dead_letter` moves a row to another group, and this subscriber has none\n\
         help: add `group = \"welcome\"`, or write `dead_letter(table = DeadEmail)` in a table \
         without groups",
    );
    refuses_key(
        "group = \"a\", max_attempts = 5, dead_letter(table = DeadJob)",
        "DeadJob",
        "`dead_letter` moves a row to another table, and this one has groups\n\
         help: write `dead_letter(group = \"failed\")`\n\
         note: in a table without groups, remove `group`",
    );
    refuses_key(
        "group = \"a\", max_attempts = 5, dead_letter(group = \"a\")",
        "\"a\"",
        "dead letters of `a` would come back to `a`\n\
         help: write `dead_letter(group = \"failed\")`",
    );
    // A half that could not be read is there all the same.
    refuses_key(
        "group = \"a\", max_attempts = 0, dead_letter(group = \"failed\")",
        "0",
        "`max_attempts` must be at least 1\nhelp: write `max_attempts = 5`",
    );
    for (arguments, at, help) in [
        (
            "group = \"a\", retries = 5, dead_letter(group = \"b\")",
            "retries",
            "here it is called `max_attempts`",
        ),
        (
            "group = \"a\", max_attempts = 5, dead_leter(group = \"b\")",
            "dead_leter",
            "there is one with a similar name: `dead_letter`",
        ),
        (
            "queue = \"a\", max_attempts = 5, dead_letter(group = \"b\")",
            "queue",
            "here it is called `group`",
        ),
        (
            "group = \"a\", max_attempts = 5, dlq = \"b\", on_decode_failure = dead_letter",
            "dlq",
            "here it is called `dead_letter`",
        ),
    ] {
        refuses_key(arguments, at, &format!("unknown subscriber key `{at}`\nhelp: {help}"));
    }
    accepts("Job, group = \"welcome\", max_attempts = 5, dead_letter(group = \"failed\")", SEND);
    accepts("Job, max_attempts = 5, dead_letter(table = dead::Job)", SEND);
}

#[test]
fn a_dead_letter_names_its_place() {
    let help = "help: write `dead_letter(group = \"failed\")`, or `dead_letter(table = DeadEmail)` in \
        a table without groups";
    for (written, at, sentence) in [
        ("dead_letter", "dead_letter", "`dead_letter` does not say where rows go"),
        ("dead_letter()", "dead_letter", "`dead_letter` does not say where rows go"),
        ("dead_letter = \"f\"", "\"f\"", "`dead_letter` takes its place in parentheses"),
        ("dead_letter(\"f\")", "\"f\"", "`dead_letter` names its place by a key"),
    ] {
        let arguments = format!("group = \"a\", max_attempts = 5, {written}");
        refuses_key(&arguments, at, &format!("{sentence}\n{help}"));
    }
    refuses_key(
        "group = \"a\", max_attempts = 5, dead_letter(grup = \"f\")",
        "grup",
        "unknown place for dead letters `grup`\nhelp: there is one with a similar name: `group`",
    );
    refuses_key(
        "max_attempts = 5, dead_letter(into = DeadJob)",
        "into",
        "unknown place for dead letters `into`\nhelp: here it is called `table`",
    );
    refuses_key(
        "max_attempts = 5, dead_letter(table = \"dead_jobs\")",
        "\"dead_jobs\"",
        "the table of dead letters is named by its row type\n\
         help: write `dead_letter(table = DeadEmail)` for `struct DeadEmail`",
    );
    refuses_key(
        "max_attempts = 5, dead_letter(table)",
        "table",
        "`table` needs a value\nhelp: write `table = DeadEmail`",
    );
    refuses_key(
        "max_attempts = 5, dead_letter(group = \"f\", table = DeadJob)",
        "table",
        "dead letters go to a group or to a table, not to both\n\
         help: keep `group` in a table with groups, else `table`",
    );
}

#[test]
fn an_undecodable_row_has_an_answer() {
    let write = "help: write `on_decode_failure =";
    let known = "note: known here: `drop`, `retry`, `retry_after`, `dead_letter`";
    let word = "`on_decode_failure` takes a word, without quotes";
    let long = "`retry_after` does not say how long";
    for (value, at, message) in [
        ("\"retry\"", "\"retry\"", format!("{word}\n{write} retry`\n{known}")),
        ("7", "7", format!("{word}\n{write} drop`\n{known}")),
        ("retry_after", "retry_after", format!("{long}\n{write} retry_after(\"60s\")`")),
        (
            "retry_after(90)",
            "90",
            format!("`retry_after` takes a duration in quotes\n{write} retry_after(\"90s\")`"),
        ),
        ("drop(1)", "(1)", format!("`drop` takes no value\n{write} drop`")),
        (
            "dorp",
            "dorp",
            "unknown way to settle an undecodable row `dorp`\n\
             help: there is one with a similar name: `drop`"
                .to_owned(),
        ),
        (
            "ignore",
            "ignore",
            "unknown way to settle an undecodable row `ignore`\nhelp: here it is called `drop`"
                .to_owned(),
        ),
        (
            "dead_letter",
            "dead_letter",
            "this subscriber has no place for dead letters\n\
             help: add `max_attempts = 5, dead_letter(table = DeadEmail)`, or `max_attempts = 5, \
             dead_letter(group = \"failed\")` in a table with groups"
                .to_owned(),
        ),
    ] {
        refuses_key(&format!("on_decode_failure = {value}"), at, &message);
    }
    for answer in ["drop", "retry", "retry_after(\"60s\")"] {
        accepts(&format!("Job, on_decode_failure = {answer}"), SEND);
    }
    let arguments = "Job, group = \"a\", max_attempts = 5, dead_letter(group = \"failed\"), \
        on_decode_failure = dead_letter";
    accepts(arguments, SEND);
}

#[test]
fn on_error_is_a_function_that_has_something_to_do() {
    let note = "note: with `fn settle(error: &Error, meta: &Meta) -> Outcome`";
    let fallible = "async fn send(email: &Email) -> Result<(), Error> { Ok(()) }";
    refuses(
        "Job, on_error = \"settle\"",
        fallible,
        "\"settle\"",
        &format!(
            "`on_error` takes the path of a function\nhelp: write `on_error = settle`\n{note}"
        ),
    );
    let nothing = "`on_error` has nothing to do: `send` returns no error\n\
        help: return `Result<(), Error>`, or remove `on_error`";
    refuses_key("on_error = settle", "on_error", nothing);
    refuses("Job, on_error = settle", "async fn send() {}", "on_error", nothing);
    accepts("Job, on_error = settle", fallible);
    accepts("Job, on_error = crate::errors::settle::<Error, Other>", fallible);
}

#[test]
fn a_handler_is_a_plain_async_function() {
    let plain = "help: write `async fn send`";
    for (function, at, message) in [
        (
            "fn send(email: &Email) {}",
            "fn",
            format!(
                "a subscriber is an `async fn`\n{plain}\n\
                 note: work that blocks belongs in `tokio::task::spawn_blocking`"
            ),
        ),
        (
            "async unsafe fn send() {}",
            "unsafe",
            format!("a subscriber cannot be `unsafe`\n{plain}"),
        ),
        (
            "async extern \"C\" fn send() {}",
            "extern \"C\"",
            format!("a subscriber cannot be `extern`\n{plain}"),
        ),
        (
            "async fn send<T>(email: &T) {}",
            "< T >",
            format!(
                "a subscriber cannot be generic\n{plain}, and name its types\n\
                 note: each is one handler of one table"
            ),
        ),
        (
            "async fn send(&self, email: &Email) {}",
            "self",
            "a subscriber is a free function, without `self`\n\
             help: take what it needs by an extractor: `state: State<Mailer>`"
                .to_owned(),
        ),
        (
            "async fn send(email: &Email) -> ! { loop {} }",
            "!",
            "a handler that never returns settles nothing\nhelp: return `Outcome`".to_owned(),
        ),
        (
            "pub struct Send;",
            "struct",
            "`#[subscriber]` goes on a function\n\
             help: write `async fn send(message: &T) -> Outcome { Outcome::ack() }`"
                .to_owned(),
        ),
    ] {
        refuses("Job", function, at, &message);
    }
}

#[test]
fn a_message_is_one_owned_value() {
    for (argument, at, message) in [
        (
            "email: &mut Email",
            "mut",
            "a message is read, and `&mut` would change a copy\nhelp: write `&Email`",
        ),
        (
            "email: &'static Email",
            "'static",
            "the message is borrowed for one call, and has no named lifetime\nhelp: write `&Email`",
        ),
        ("email: &str", "str", "a message owns its text\nhelp: write `&String`"),
        (
            "email: &dyn Mail",
            "dyn Mail",
            "a message has one type, because it is decoded from the row\n\
             help: name the type: `message: &T`",
        ),
        (
            "email: &Mail<'_>",
            "'_",
            "a message owns its data, and cannot borrow from the row\n\
             help: use an owned type, such as `String` for `&str`",
        ),
        (
            "email: &Email, other: &Email",
            "& Email",
            "the message was already taken by `email`\n\
             help: take one by reference, and the extractors by value: `Ctx<keys::Attempt>`",
        ),
    ] {
        refuses("Job", &format!("async fn send({argument}) {{}}"), at, message);
    }
    accepts("Job", "async fn send(email: &Email) {}");
    accepts("Job", "async fn send(call: &Box<dyn Fn(&str)>) {}");
}

#[test]
fn an_extractor_is_one_owned_value() {
    let owned = "an extractor owns its data, and cannot borrow from the delivery\n\
        help: use an owned type, such as `String` for `&str`";
    for (argument, at, message) in [
        ("state: State<&str>", "&", owned),
        ("state: State<Borrowed<'_>>", "'_", owned),
        (
            "state: impl Extractor",
            "impl Extractor",
            "an argument of a subscriber has one type\n\
             help: name the type, such as `Ctx<keys::Attempt>`",
        ),
        (
            "#[cfg(feature = \"a\")] state: State<String>",
            "# [cfg (feature = \"a\")]",
            "an argument of a subscriber is there or is not\n\
             help: write the function twice, each with its own `#[cfg(..)]`",
        ),
    ] {
        refuses("Job", &format!("async fn send({argument}) {{}}"), at, message);
    }
    accepts("Job", "async fn send(state: State<&'static str>, f: State<fn(&str) -> bool>) {}");
}

#[test]
fn a_subscriber_has_no_more_arguments_than_the_runtime_has_room_for() {
    let function = |arguments: usize| {
        let list: String = (0..arguments).map(|n| format!("a{n}: State<S{n}>,")).collect();
        format!("async fn send({list}) {{}}")
    };
    refuses(
        "Job",
        &function(11),
        "a9 : State < S9 >",
        "a subscriber takes at most 9 arguments\n\
         help: put values of your own into one struct: `state: State<Mailer>`",
    );
    accepts("Job", &function(9));
}
