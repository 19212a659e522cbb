//! What a wrong table is told, and that the table is right once the advice is followed.

use crate::queue_table::mistakes;

/// `at` is what the error underlines.
#[track_caller]
fn refuses(declaration: &str, at: &str, message: &str) {
    let expected = vec![format!("{at} -> {message}")];
    assert_eq!(mistakes(declaration.parse().unwrap()), expected, "{declaration}");
}

#[track_caller]
fn accepts(declaration: &str) {
    let mistakes = mistakes(declaration.parse().unwrap());
    assert!(mistakes.is_empty(), "{mistakes:?} in {declaration}");
}

/// A right table but for its keys.
fn keyed(keys: &str) -> String {
    format!(
        "#[queue_table({keys})] struct Job {{
            #[queue(id)] id: i64,
            #[queue(locked_until)] until: Option<Time>,
        }}"
    )
}

/// A right table with more fields.
fn with(fields: &str) -> String {
    format!(
        "#[queue_table(name = \"jobs\")] struct Job {{
            #[queue(id)] id: i64,
            #[queue(locked_until)] until: Option<Time>,
            {fields}
        }}"
    )
}

#[test]
fn every_mistake_has_its_message() {
    let declaration = r#"
        #[queue_table(nmae = "jobs", schema = 5)]
        struct Job { #[queue(id)] id: i64, #[queue(atempt)] attempt: i32, #[queue(id)] other: i64 }
    "#;
    let lines = mistakes(declaration.parse().unwrap());
    let firsts: Vec<&str> = lines.iter().filter_map(|line| line.lines().next()).collect();
    assert_eq!(
        firsts,
        [
            "nmae -> unknown table key `nmae`",
            "5 -> `schema` takes a text in quotes",
            "atempt -> unknown column role `atempt`",
            "id -> `Job` has two `id` columns: `id` and `other`",
        ]
    );
}

#[test]
fn a_table_has_a_name() {
    let unnamed = "struct EmailJob { #[queue(id)] id: i64, #[queue(locked_until)] u: Option<T> }";
    let help = "help: add `#[queue_table(name = \"email_jobs\")]`";
    refuses(unnamed, "EmailJob", &format!("`EmailJob` does not name its table\n{help}"));
    accepts(&format!("#[queue_table(name = \"email_jobs\")] {unnamed}"));

    let help = "help: write `name = \"jobs\"`";
    for (keys, at, sentence) in [
        ("name", "name", "`name` needs a value"),
        ("name =", "name", "`name` needs a value"),
        ("name = jobs", "jobs", "`name` takes a text in quotes"),
        ("name = 7", "7", "`name` takes a text in quotes"),
        ("name = \"\"", "\"\"", "`name` is empty"),
        ("name(\"jobs\")", "(\"jobs\")", "`name` takes its value after `=`"),
        ("name \"jobs\"", "\"jobs\"", "`=` is missing after `name`"),
    ] {
        refuses(&keyed(keys), at, &format!("{sentence}\n{help}"));
    }
    refuses(
        &keyed(r#"name = "a\0b""#),
        r#""a\0b""#,
        "`name` contains a NUL character\nnote: no database takes one in a name or a text",
    );
    refuses(
        &keyed(r#"name = "a", name = "b""#),
        "name",
        "`name` is given twice\nhelp: keep one of them",
    );
    accepts(&keyed(r#"name = "jobs", schema = "app""#));
}

#[test]
fn the_attribute_has_its_form() {
    let help = "help: write `#[queue_table(name = \"jobs\")]`";
    let sentence = "`queue_table` takes its words in parentheses";
    for attribute in ["queue_table", "queue_table()", "queue_table = \"jobs\""] {
        let declaration = keyed("").replace("queue_table()", attribute);
        refuses(&declaration, "queue_table", &format!("{sentence}\n{help}"));
    }
    let sentence = "`queue_table` does not know what this stands for";
    refuses(&keyed("\"jobs\""), "\"jobs\"", &format!("{sentence}\n{help}"));
    refuses(
        &with("#[queue] more: i64"),
        "queue",
        "`queue` takes its words in parentheses\nhelp: write `#[queue(id)]`",
    );
    accepts(&keyed("name = \"jobs\""));
}

#[test]
fn an_unknown_key_names_what_was_meant() {
    for (key, message) in [
        ("nam", "unknown table key `nam`\nhelp: there is one with a similar name: `name`"),
        ("table", "unknown table key `table`\nhelp: here it is called `name`"),
        ("queue", "unknown table key `queue`\nhelp: here it is called `name`"),
        ("namespace", "unknown table key `namespace`\nhelp: here it is called `schema`"),
        ("id", "unknown table key `id`\nhelp: roles stand on fields: `#[queue(id)]`"),
        (
            "visibility_timeout",
            "unknown table key `visibility_timeout`\n\
             help: a subscriber sets it: `lease = \"30s\"`",
        ),
        ("colour", "unknown table key `colour`\nhelp: known here: `name`, `schema`"),
    ] {
        refuses(&keyed(&format!("name = \"jobs\", {key} = \"x\"")), key, message);
    }
    for key in ["advisory_lock", "advisory_lok"] {
        refuses(
            &format!(
                "#[queue_table(name = \"j\", {key} = \"x\")] struct J {{ #[queue(id)] id: i64 }}"
            ),
            key,
            "`advisory_lock` is not there yet\nhelp: mark a lease column: \
             `#[queue(locked_until)] locked_until: Option<chrono::DateTime<chrono::Utc>>`",
        );
    }
}

#[test]
fn an_unknown_role_names_what_was_meant() {
    for (role, message) in [
        (
            "atempt",
            "unknown column role `atempt`\nhelp: there is one with a similar name: `attempt`",
        ),
        ("idd", "unknown column role `idd`\nhelp: there is one with a similar name: `id`"),
        ("retries", "unknown column role `retries`\nhelp: here it is called `attempt`"),
        ("delay", "unknown column role `delay`\nhelp: here it is called `retry_after`"),
        ("backoff", "unknown column role `backoff`\nhelp: here it is called `retry_after`"),
        (
            "visibility_timeout",
            "unknown column role `visibility_timeout`\nhelp: here it is called `locked_until`",
        ),
        ("queue", "unknown column role `queue`\nhelp: here it is called `group`"),
        ("body", "unknown column role `body`\nhelp: here it is called `payload`"),
        (
            "concurrency",
            "unknown column role `concurrency`\nhelp: a subscriber sets it: `workers = 16`",
        ),
        (
            "rename",
            "unknown column role `rename`\n\
             help: the column's name is sqlx's: `#[sqlx(rename = \"other_name\")]`",
        ),
        (
            "colour",
            "unknown column role `colour`\nhelp: known here: `id`, `group`, `attempt`, \
             `retry_after`, `locked_until`, `processed_at`, `last_error`, `payload`",
        ),
        (
            "priority",
            "`priority` is not there yet\n\
             help: without `#[queue(priority)]` the field is a data column",
        ),
        (
            "partition_key",
            "`fifo` is not there yet\nhelp: without `#[queue(fifo)]` the field is a data column",
        ),
        (
            "header",
            "`headers` is not there yet\n\
             help: without `#[queue(headers)]` the field is a data column",
        ),
    ] {
        refuses(&with(&format!("#[queue({role})] more: i64")), role, message);
    }
    accepts(&with("#[queue(attempt)] more: i64"));
    accepts(&with("more: i64"));
}

#[test]
fn a_role_takes_no_value() {
    let message = "`attempt` takes no value\nhelp: write `#[queue(attempt)]`";
    refuses(&with("#[queue(attempt = 1)] n: i32"), "1", message);
    refuses(&with("#[queue(attempt(1))] n: i32"), "(1)", message);
    accepts(&with("#[queue(attempt)] n: i32, #[queue(payload)] payload: Json<Email>"));
}

#[test]
fn a_payload_is_tied_to_one_type() {
    accepts(&with("#[queue(payload = mail::Email)] payload: Vec<u8>"));
    accepts(&with("#[queue(payload = Vec<Email>)] payload: String"));
    refuses(
        &with("#[queue(payload = 7)] payload: Vec<u8>"),
        "7",
        "`payload` takes the type of its messages\nhelp: write `#[queue(payload = Email)]`",
    );
    refuses(
        &with("#[queue(payload = Email)] payload: sqlx::types::Json<Email>"),
        "Email",
        "a `Json<..>` column says already what its messages are\nhelp: write `#[queue(payload)]`",
    );
    refuses(
        &with("#[queue(payload =)] payload: Vec<u8>"),
        "payload",
        "`payload` takes no value\nhelp: write `#[queue(payload)]`",
    );
}

#[test]
fn a_role_marks_one_column_and_a_column_has_one_role() {
    refuses(
        &with("#[queue(id)] other: i64"),
        "id",
        "`Job` has two `id` columns: `id` and `other`\nhelp: keep one `#[queue(id)]`",
    );
    let help = "help: keep `#[queue(attempt)]` or `#[queue(group)]`";
    let message = format!("`n` cannot be both `attempt` and `group`\n{help}");
    refuses(&with("#[queue(attempt, group)] n: i32"), "group", &message);
    refuses(&with("#[queue(attempt)] #[queue(group)] n: i32"), "group", &message);
    refuses(
        &with("#[queue(attempt, attempt)] n: i32"),
        "attempt",
        "`attempt` is given twice\nhelp: keep one of them",
    );
}

#[test]
fn a_table_has_an_id() {
    let table = |field: &str| {
        format!(
            "#[queue_table(name = \"jobs\")]
            struct Job {{ {field}, #[queue(locked_until)] until: Option<Time> }}"
        )
    };
    refuses(
        &table("number: i64"),
        "Job",
        "`Job` has no `id` column\nhelp: mark the primary key: `#[queue(id)] id: i64`",
    );
    refuses(
        &table("id: i64"),
        "Job",
        "`Job` has no `id` column\nhelp: add `#[queue(id)]` to the field `id`",
    );
    accepts(&table("#[queue(id)] id: i64"));
}

#[test]
fn a_table_without_a_lease_locks_its_rows_and_a_lease_is_not_forgotten() {
    let table = |fields: &str| {
        format!("#[queue_table(name = \"jobs\")] struct Job {{ #[queue(id)] id: i64, {fields} }}")
    };
    accepts(&table("more: i64"));
    accepts(&table("#[queue(locked_until)] locked_until: Option<chrono::DateTime<chrono::Utc>>"));
    accepts(&table("#[queue(locked_until)] until: Option<i64>, locked_until: bool"));
    accepts(&table("#[sqlx(rename = \"locked_until\")] other_name: Option<i64>"));
    refuses(
        &table("locked_until: Option<Time>"),
        "locked_until",
        "the field `locked_until` is not marked as the lease\n\
         help: write `#[queue(locked_until)] locked_until`\n\
         note: without a lease the rows are locked while they are in work; for that, give the \
         field another name: `#[sqlx(rename = \"locked_until\")] other_name`",
    );
}

#[test]
fn a_table_is_a_struct_with_named_fields() {
    let help = "help: write `struct Job { #[queue(id)] id: i64, \
        #[queue(locked_until)] locked_until: Option<chrono::DateTime<chrono::Utc>> }`";
    let named = format!("a queue table needs named fields, because fields are columns\n{help}");
    let a_struct = format!("a queue table is a struct, because its fields are the columns\n{help}");
    for (item, at, message) in [
        ("struct Job(i64);", "(i64)", &named),
        ("struct Job;", "Job", &named),
        ("enum Job { A }", "enum", &a_struct),
        ("union Job { a: i64 }", "union", &a_struct),
    ] {
        refuses(&format!("#[queue_table(name = \"jobs\")] {item}"), at, message);
    }
}

#[test]
fn a_table_is_not_generic() {
    for (generics, at) in
        [("<T>", "< T >"), ("<'a>", "< 'a >"), ("<const N: usize>", "< const N : usize >")]
    {
        refuses(
            &with("").replace("struct Job", &format!("struct Job{generics}")),
            at,
            "a queue table cannot be generic\n\
             help: write `struct Job` and name the types of its fields\n\
             note: each table is one row type with one set of statements",
        );
    }
}

#[test]
fn a_column_has_one_name_and_one_type() {
    let help = "help: give one of them a name of its own: `#[sqlx(rename = \"other_name\")]`";
    refuses(
        &with("a: i64, #[sqlx(rename = \"a\")] b: i64"),
        "\"a\"",
        &format!("`a` and `b` are both the column `a`\n{help}"),
    );
    refuses(
        &with("#[sqlx(rename = \"b\")] a: i64, b: i64"),
        "\"b\"",
        &format!("`a` and `b` are both the column `b`\n{help}"),
    );
    accepts(&with("#[sqlx(rename = \"other_name\")] a: i64, b: i64"));
    refuses(
        &with("account: i64, Account: i64"),
        "Account",
        "the fields `account` and `Account` differ only in their case\n\
         help: rename the field: `#[sqlx(rename = \"Account\")] other_name`\n\
         note: both would be the constant `ACCOUNT`",
    );
    accepts(&with("account: i64, #[sqlx(rename = \"Account\")] other_name: i64"));
    refuses(
        &with("#[sqlx(rename = \"\")] a: i64"),
        "\"\"",
        "the name of this column is empty\nhelp: write the name that the table has",
    );
}

#[test]
fn sqlx_fills_a_field_from_its_column() {
    refuses(
        &with("#[sqlx(flatten)] address: Address"),
        "flatten",
        "`address` is many columns, and a field is one here\n\
         help: write the fields of the flattened struct into this one",
    );
    refuses(
        &with("#[sqlx(try_from = \"i64\")] number: Number"),
        "try_from",
        "`try_from` hides the type of the column `number`\n\
         help: write `number: i64`, and convert in the handler",
    );
    refuses(
        &with("#[sqlx(json)] address: Address"),
        "json",
        "`json` hides the type of the column `address`\n\
         help: write `address: sqlx::types::Json<Address>`",
    );
    refuses(
        &with("#[queue(attempt)] #[sqlx(skip)] attempt: i32"),
        "attempt",
        "`attempt` is a column, and sqlx skips this field\nhelp: remove `#[sqlx(skip)]`",
    );
    accepts(&with("#[sqlx(default)] a: i64, #[sqlx(skip)] b: i64, c: sqlx::types::Json<Address>"));
}
