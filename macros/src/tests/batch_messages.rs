//! What a wrong handler of batches is told.

use super::subscriber_messages::{accepts, refuses, refuses_key};

#[test]
fn a_batch_is_from_one_row_to_many() {
    accepts("Job, batch = 1", "async fn store(emails: &[Email]) {}");
    accepts("Job, batch = 10000", "async fn store(emails: &[Email]) {}");
    let slice = "async fn store(emails: &[Email]) {}";
    let help = "help: write `batch = 100`";
    refuses("Job, batch = 0", slice, "0", &format!("`batch` must be at least 1\n{help}"));
    let most = format!("`batch` must be at most 10000\n{help}");
    refuses("Job, batch = 10001", slice, "10001", &most);
    refuses("Job, batch", slice, "batch", &format!("`batch` needs a value\n{help}"));
    for key in ["batch_size", "bulk"] {
        let message = format!("unknown subscriber key `{key}`\nhelp: here it is called `batch`");
        refuses(&format!("Job, {key} = 100"), slice, key, &message);
    }
}

#[test]
fn a_slice_needs_the_size_of_the_batch() {
    let message = |ty: &str| {
        format!(
            "a slice takes a batch, and the attribute does not say how large\n\
             help: add `batch = 100`, or take one row a call: `&{ty}`\n\
             note: a payload of bytes is a `&Vec<u8>`"
        )
    };
    let messages = "async fn store(emails: &[Email]) {}";
    refuses("Job", messages, "Email", &message("Email"));
    refuses("Job", "async fn store(rows: &[Job]) {}", "Job", &message("Job"));
    accepts("Job, batch = 100", messages);
    accepts("Job, batch = 100", "async fn store(rows: &[Job]) {}");
    accepts("Job", "async fn store(email: &Email) {}");
}

#[test]
fn with_a_batch_the_handler_takes_a_slice() {
    let message = |ty: &str| {
        format!("with `batch` a handler takes a slice\nhelp: write `&[{ty}]`, or remove `batch`")
    };
    refuses_key("batch = 100", "Email", &message("Email"));
    let list = "async fn store(emails: &Vec<Email>) {}";
    refuses("Job, batch = 100", list, "Vec < Email >", &message("Email"));
    refuses("Job, batch = 100", "async fn store(row: &Job) {}", "Job", &message("Job"));
    refuses(
        "Job, batch = 100",
        "async fn store(state: State<u8>) {}",
        "batch",
        "`batch` has nothing to do: the handler takes no slice\n\
         help: take the messages: `messages: &[T]`, or remove `batch`",
    );
}

#[test]
fn each_row_of_a_batch_has_its_own_attempt() {
    let message = "each row of a batch has its own attempt\n\
        help: take the rows, `rows: &[Job]`, and read it there: `row.attempt`";
    for key in ["Ctx < keys :: Attempt >", "queue_table :: Ctx < Attempt >"] {
        let function = format!("async fn store(emails: &[Email], Ctx(n): {key}) {{}}");
        refuses("Job, batch = 100", &function, key, message);
    }
    refuses(
        "Job, batch = 100",
        "async fn store(emails: &[Email], Ctx(id): Ctx < keys :: Id < i64 > >) {}",
        "Ctx < keys :: Id < i64 > >",
        "each row of a batch has its own id\n\
         help: take the rows, `rows: &[Job]`, and read it there: `row.id`",
    );
    let others = "async fn store(emails: &[Email], lost: CancellationToken, db: State<Pool>) {}";
    accepts("Job, batch = 100", others);
}

#[test]
fn what_is_in_a_slice_is_owned() {
    let text = "a message owns its text\nhelp: write `&String`";
    refuses("Job, batch = 9", "async fn store(texts: &[str]) {}", "str", text);
    let borrow = "a message owns its data, and cannot borrow from the row\n\
        help: use an owned type, such as `String` for `&str`";
    refuses("Job, batch = 9", "async fn store(texts: &[&str]) {}", "&", borrow);
}

#[test]
fn a_handler_of_batches_can_fail_for_all() {
    let nothing = "`on_error` has nothing to do: `store` returns no error\n\
        help: return `Result<(), Error>`, or remove `on_error`";
    let arguments = "Job, batch = 9, on_error = settle";
    let each = "async fn store(rows: &[Job]) -> Vec<Outcome> {}";
    refuses(arguments, each, "on_error", nothing);
    accepts(arguments, "async fn store(rows: &[Job]) -> Result<Vec<Outcome>, Error> {}");
}
