//! The invariants of ARCHITECTURE.md that can be read off the source.
#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;

use queue_table_tests::source::{File, files, module, root, rust_files};
use queue_table_tests::sweep_list::SWEEP_LIST;

/// The runtime's modules in the order in which data flows through them.
const DATA_FLOW: [&str; 10] = [
    "descriptor",
    "dialect",
    "backend",
    "broker",
    "claim",
    "delivery",
    "handler",
    "settle",
    "publish",
    "service",
];

/// Where a row is on its way: these modules work the same on every database.
const ON_ITS_WAY: [&str; 5] = ["claim", "delivery", "handler", "settle", "service"];

const DATABASES: [&str; 4] = ["postgres", "mysql", "mariadb", "sqlite"];

// Words that this file looks for stand here in halves, so that it does not find itself.
const UNFINISHED: [&str; 8] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("dbg", "!("),
    concat!("#[", "ignore"),
    concat!("thread::", "sleep"),
];

const FOLDERS_OF_ONE_MACHINE: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

#[track_caller]
fn assert_none(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}\n  {}", found.join("\n  "));
}

/// The lines of code, in all of `files`, that hold one of `words`.
fn lines_with(files: &[File], words: &[&str]) -> Vec<String> {
    let has_one = |line: &str| words.iter().any(|word| line.contains(word));
    files.iter().flat_map(|file| file.lines(&file.code(), has_one)).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_file_is_short_enough_to_be_about_one_noun() {
    let long: Vec<_> = rust_files("")
        .iter()
        .map(|file| (file, file.text.lines().count(), if file.is_test() { 600 } else { 400 }))
        .filter(|(_, lines, limit)| lines > limit)
        .map(|(file, lines, limit)| format!("{}: {lines} lines of {limit}", file.path))
        .collect();
    assert_none("split these by concept", &long);
}

#[test]
fn a_file_is_named_after_its_noun() {
    let vague = ["utils", "util", "helpers", "helper", "common", "misc", "types"];
    let found: Vec<_> = rust_files("")
        .into_iter()
        .filter(|file| vague.contains(&file.stem()))
        .map(|file| file.path)
        .collect();
    assert_none("these names say nothing", &found);
}

#[test]
fn nothing_is_left_unfinished() {
    let found: Vec<_> = rust_files("")
        .iter()
        .flat_map(|file| {
            file.lines(&file.text, |line| UNFINISHED.iter().any(|word| line.contains(word)))
        })
        .collect();
    assert_none("finish these, or make an issue of them", &found);
}

#[test]
fn descriptors_and_dialects_are_pure() {
    for name in ["descriptor", "dialect"] {
        let found = lines_with(&module(name), &["sqlx", "tokio", "tracing"]);
        assert_none("these modules know no driver, no runtime and no log", &found);
    }
}

#[test]
fn the_claim_loop_never_sees_a_dialect() {
    // What it takes is data: statements by what they do, and events by their names.
    let found = lines_with(&module("claim"), &["Dialect", "dialect::Postgres", "dialect::Sqlite"]);
    assert_none("the loop sends statements and never asks who wrote them", &found);
}

#[test]
fn what_a_row_meets_on_its_way_names_no_database() {
    for name in ON_ITS_WAY {
        let found: Vec<_> = module(name)
            .iter()
            .flat_map(|file| file.lines(&file.code().to_lowercase(), names_a_database))
            .collect();
        assert_none("match on the shape of a plan, not on a database", &found);
    }
}

#[test]
fn the_macros_name_no_database() {
    let found: Vec<_> = rust_files("macros/src")
        .iter()
        .filter(|file| !file.is_test())
        .flat_map(|file| file.lines(&file.code_with_strings().to_lowercase(), names_a_database))
        .collect();
    assert_none("macros record facts, and a database is none", &found);
}

fn names_a_database(line: &str) -> bool {
    DATABASES.iter().any(|database| line.contains(database))
}

#[test]
fn sql_is_asserted_to_be_safe_in_one_file() {
    let files = rust_files("runtime/src");
    let places: Vec<_> = files
        .iter()
        .filter(|file| file.code().contains("AssertSqlSafe"))
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(places.len(), 1, "{places:?}");
}

#[test]
fn no_value_is_formatted_into_sql() {
    // A dialect sees names of columns and never a value, so what it formats are identifiers.
    let found: Vec<_> = rust_files("runtime/src")
        .iter()
        .filter(|file| !file.path.starts_with("runtime/src/dialect"))
        .flat_map(|file| file.lines(&file.code_with_strings(), formats_sql))
        .collect();
    assert_none("SQL is written by the dialects, and values are bound", &found);
}

/// A line that reads like a statement and has a placeholder of `format!`; strings span lines.
fn formats_sql(line: &str) -> bool {
    let is_sql = [
        "SELECT ",
        "INSERT INTO ",
        "UPDATE ",
        "DELETE FROM ",
        " WHERE ",
        "NOTIFY ",
        "LISTEN ",
        "SET ",
        "PRAGMA ",
        "BEGIN ",
        "VALUES ",
    ];
    let mut placeholders = line.split('{').skip(1);
    is_sql.iter().any(|words| line.contains(words))
        && placeholders.any(|rest| {
            rest.starts_with(|c: char| c.is_lowercase() || c == '}' || c == ':' || c == '_')
        })
}

#[test]
fn the_list_of_modules_is_the_way_of_the_data() {
    let code = read("runtime/src/lib.rs");
    let listed: Vec<_> = code.lines().filter_map(module_named).collect();
    let in_flow: Vec<_> = listed.iter().copied().filter(|name| DATA_FLOW.contains(name)).collect();
    let expected: Vec<_> = DATA_FLOW.into_iter().filter(|name| in_flow.contains(name)).collect();
    assert_eq!(in_flow, expected, "runtime/src/lib.rs lists its modules in another order");
    for name in DATA_FLOW {
        assert!(listed.contains(&name), "`{name}` is missing in runtime/src/lib.rs");
    }
}

fn module_named(line: &str) -> Option<&str> {
    let item = line.strip_prefix("pub ").unwrap_or(line);
    item.strip_prefix("mod ")?.strip_suffix(';')
}

#[test]
fn every_public_future_says_what_is_lost_when_it_is_dropped() {
    let silent: Vec<_> = public_futures()
        .into_iter()
        .filter(|(_, docs)| !docs.contains("# Cancel safety"))
        .map(|(name, _)| name)
        .collect();
    assert_none("these have no `# Cancel safety` in their docs", &silent);
}

#[test]
fn every_public_future_is_in_the_cancellation_sweep() {
    let all: BTreeSet<_> = public_futures().into_iter().map(|(name, _)| name).collect();
    let swept: BTreeSet<_> = SWEEP_LIST.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(swept.len(), SWEEP_LIST.len(), "a name stands twice in the list");
    let missing: Vec<_> = all.difference(&swept).cloned().collect();
    assert_none("these are not in tests/src/sweep_list.rs", &missing);
    let gone: Vec<_> = swept.difference(&all).cloned().collect();
    assert_none("these are in tests/src/sweep_list.rs and nowhere else", &gone);
}

/// `file stem::fn` of each public future of the runtime, and its docs.
fn public_futures() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in rust_files("runtime/src") {
        for future in file.public_futures() {
            found.push((format!("{}::{}", file.stem(), future.name), future.docs));
        }
    }
    assert!(!found.is_empty(), "the runtime has no public future, or they are not found");
    found
}

#[test]
fn what_is_boxed_for_a_delivery_says_why() {
    for name in ["claim", "delivery", "settle", "handler"] {
        for file in module(name) {
            let boxes = ["Box::new(", "Box::pin(", "Box<dyn ", ".boxed("];
            let code = file.code();
            let mut above = "";
            let silent: Vec<_> = code
                .lines()
                .zip(file.text.lines())
                .enumerate()
                .filter_map(|(index, (code, text))| {
                    let explained = text.contains("//") || above.trim_start().starts_with("//");
                    above = text;
                    let boxed = boxes.iter().any(|word| code.contains(word));
                    (boxed && !explained)
                        .then(|| format!("{}:{}: {}", file.path, index + 1, text.trim()))
                })
                .collect();
            assert_none("a comment on the line above says why this is boxed", &silent);
        }
    }
}

#[test]
fn tests_wait_for_conditions_and_never_for_a_time() {
    let sleeps = [concat!("time::", "sleep"), concat!(" sleep", "("), concat!("(sleep", "(")];
    let found: Vec<_> = rust_files("tests")
        .iter()
        .filter(|file| file.path != "tests/src/eventually.rs")
        .flat_map(|file| {
            file.lines(&file.code(), |line| sleeps.iter().any(|sleep| line.contains(sleep)))
        })
        .filter(|line| !line.contains("sleep_until"))
        .collect();
    assert_none("use `eventually` or `stays`", &found);
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    let found: Vec<_> = files("")
        .iter()
        .flat_map(|file| {
            file.lines(&file.text, |line| {
                FOLDERS_OF_ONE_MACHINE.iter().any(|path| line.contains(path))
            })
        })
        .collect();
    assert_none("another machine has no such folder", &found);
}

#[test]
fn the_pages_of_the_project_are_there() {
    for page in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        assert!(!read(page).trim().is_empty(), "{page} is empty");
    }
}

#[test]
fn the_tests_run_here_as_the_readme_says() {
    let command = "cargo test --workspace";
    for page in ["README.md", ".ci/run"] {
        assert!(read(page).contains(command), "{page} does not say `{command}`");
    }
}

#[test]
fn the_rules_find_what_they_look_for() {
    for (line, found) in [
        (r#"let sql = format!("UPDATE {table} SET a = {value}");"#, true),
        (r#"    "DELETE FROM jobs WHERE id = {}","#, true),
        (r"    FROM jobs WHERE id = {id} \", true),
        (r#"sqlx::query("SELECT $1 FROM jobs WHERE id = $2")"#, false),
        (r#"let message = format!("the table `{table}` does not exist");"#, false),
        (r#"sqlx::query("SELECT '{\"a\": 1}'::json")"#, false),
    ] {
        assert_eq!(formats_sql(line), found, "{line}");
    }
    assert!(names_a_database("use sqlx::postgres::pgpool;"));
    assert_eq!(module_named("pub mod descriptor;"), Some("descriptor"));
    assert_eq!(module_named("mod claim;"), Some("claim"));
    assert_eq!(module_named("    mod inner;"), None);
}
