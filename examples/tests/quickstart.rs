//! What the quickstart promises to somebody who types its command.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};

use queue_table_tests::conformance::{self, Postgres, Trial, on_every_stand};
use queue_table_tests::database::TestDb;
use queue_table_tests::eventually::eventually;
use serde_json::Value;
use tempfile::TempDir;

const EVENTS: u64 = 1707;

/// One row each, and one more for the 85 of magnitude 4.5 and more.
const ROWS: u64 = EVENTS + 85;

fn main() -> ExitCode {
    conformance::run(|stands| {
        let mut trials = vec![
            Trial::test("a_plain_run_works_on_every_row", || keep(a_plain_run_works_on_every_row)),
            Trial::test("json_is_the_last_line", || keep(json_is_the_last_line)),
            Trial::test("a_line_that_is_no_event_is_a_dead_letter", || {
                keep(a_line_that_is_no_event_is_a_dead_letter)
            }),
            Trial::test("a_killed_worker_loses_nothing", || keep(a_killed_worker_loses_nothing)),
            Trial::test("mistakes_are_answered", || keep(mistakes_are_answered)),
        ];
        #[cfg(unix)]
        trials.push(Trial::test("ctrl_c_finishes_what_is_in_work", || {
            keep(ctrl_c_finishes_what_is_in_work)
        }));
        trials.extend(on_every_stand::<Postgres, _, _>(
            "its_schema_is_gone_after_a_run",
            stands,
            its_schema_is_gone_after_a_run,
        ));
        trials.extend(on_every_stand::<Postgres, _, _>(
            "a_killed_worker_loses_nothing",
            stands,
            a_killed_worker_loses_nothing_on_postgres,
        ));
        trials
    })
}

/// Runs a test with a folder of its own, which must be as empty after it as before.
fn keep(test: fn(&Path)) -> Result<(), libtest_mimic::Failed> {
    let folder = TempDir::new().unwrap();
    test(folder.path());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    Ok(())
}

/// The command, with a folder in which it may make its temporary one.
fn quickstart(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
    command.args(arguments).env("TMPDIR", folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    quickstart(folder, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The last line that was printed, as JSON.
fn summary(output: &Output) -> Value {
    let last = text(&output.stdout).lines().last();
    let last = last.unwrap_or_else(|| panic!("nothing was printed: {}", text(&output.stderr)));
    serde_json::from_str(last).unwrap()
}

fn number(summary: &Value, key: &str) -> u64 {
    summary[key].as_u64().unwrap_or_else(|| panic!("no number `{key}` in {summary}"))
}

#[track_caller]
fn assert_complete(output: &Output) {
    assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
    let summary = summary(output);
    assert_eq!(number(&summary, "stored"), EVENTS, "{summary}");
    assert_eq!(number(&summary, "left"), 0, "{summary}");
    let dead = number(&summary, "dead_lettered");
    assert_eq!(number(&summary, "acked") + dead, ROWS, "{summary}");
    assert!(dead > 0, "{summary}");
    assert!(number(&summary, "retried") > dead, "{summary}");
}

fn a_plain_run_works_on_every_row(folder: &Path) {
    let output = run(folder, &[]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
    assert!(printed.contains("1707 events are stored"), "{printed}");
    assert!(printed.contains(" 0 are left"), "{printed}");
    assert!(printed.contains("the pager is switched off"), "{printed}");
    // Nobody watches stderr here, so no line is written over and over.
    assert_eq!(text(&output.stderr), "");
}

fn json_is_the_last_line(folder: &Path) {
    let output = run(folder, &["--json"]);
    assert_complete(&output);
    let summary = summary(&output);
    assert!(summary["seconds"].as_f64().unwrap() > 0.0, "{summary}");
    assert!(summary["rows_per_second"].as_f64().unwrap() > 0.0, "{summary}");
    assert_eq!(summary.as_object().unwrap().len(), 7, "{summary}");
}

fn a_line_that_is_no_event_is_a_dead_letter(folder: &Path) {
    let file = folder.join("events.jsonl");
    let lines = b"{\"id\": \"a\", \"time\": 1, \"mag\": 5.0}\nnot json\n\xff\0\n{\"id\": \"b\", \
                  \"time\": 2}\n{\"id\": \"a\", \"time\": 1}";
    fs::write(&file, lines).unwrap();
    let output = run(folder, &["--json", "--events", file.to_str().unwrap()]);
    fs::remove_file(file).unwrap();
    assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
    let reported = text(&output.stderr);
    assert!(reported.contains("line 2: ") && reported.contains("line 3: "), "{reported}");
    let summary = summary(&output);
    assert_eq!(number(&summary, "dead_lettered"), 2, "{summary}");
    assert_eq!(number(&summary, "stored"), 2, "{summary}");
    assert_eq!(number(&summary, "acked"), 4, "{summary}");
    assert_eq!(number(&summary, "left"), 0, "{summary}");
}

fn a_killed_worker_loses_nothing(folder: &Path) {
    let output = run(folder, &["--json", "--kill-after", "300"]);
    let reported = text(&output.stderr);
    assert!(reported.contains("killed the worker with -9"), "{reported}");
    assert_complete(&output);
}

fn mistakes_are_answered(folder: &Path) {
    let file = |name: &str, content: &str| {
        let file = folder.join(name);
        fs::write(&file, content).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let empty = file("empty", "\n");
    let other = file("other", "{\n  \"type\": \"FeatureCollection\"\n}\n");
    let gone = folder.join("gone").to_str().unwrap().to_owned();
    let nobody = "postgres://me:secret@127.0.0.1:1/stand";
    for (arguments, code, part) in [
        (["--jsn"].as_slice(), 2, "`--jsn` is no option; there are `--json`, `--events FILE`"),
        (&["--kill-after", "x"], 2, "`--kill-after 300`"),
        (&["--events"], 2, "`--events FILE`"),
        (&["--events", &gone], 1, "cannot be read: No such file"),
        (&["--events", &empty], 1, "empty` is empty; each line should be like"),
        (&["--events", &other], 1, "other` is an event; each line should be like"),
        (&["--database", "mysql://me:secret@localhost/x"], 1, "`postgres://user:password@"),
        (&["--database", nobody], 1, "server at 127.0.0.1:1 cannot be reached"),
    ] {
        let output = run(folder, arguments);
        let reported = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {reported}");
        assert!(reported.contains(part), "{arguments:?}: {reported}");
        assert!(!reported.contains("secret"), "{reported}");
    }
    fs::remove_file(empty).unwrap();
    fs::remove_file(other).unwrap();
    let help = run(folder, &["--help"]);
    assert!(help.status.success());
    assert!(text(&help.stdout).contains("--kill-after N"), "{help:?}");
}

#[cfg(unix)]
fn ctrl_c_finishes_what_is_in_work(folder: &Path) {
    // More than anybody works off before the signal comes.
    let lines: String =
        (0..20_000).map(|n| format!("{{\"id\": \"{n}\", \"time\": {n}}}\n")).collect();
    let file = folder.join("events.jsonl");
    fs::write(&file, lines).unwrap();
    for more in [&[][..], &["--kill-after", "1000000"]] {
        let arguments = [&["--json", "--events", file.to_str().unwrap()], more].concat();
        let mut child = quickstart(folder, &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(eventually("the database is there", async || {
            let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.any(|path| path.join("quickstart.db").exists())
        }));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let still_running = child.try_wait().unwrap();
        assert_eq!(still_running, None);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", output.status);
        let summary = summary(&output);
        assert_eq!(number(&summary, "acked") + number(&summary, "left"), 20_000, "{summary}");
        assert!(number(&summary, "left") > 0, "{summary}");
        // Every row that was acked is stored, and one that was given back may be.
        assert!(number(&summary, "stored") >= number(&summary, "acked"), "{summary}");
    }
    fs::remove_file(file).unwrap();
}

async fn its_schema_is_gone_after_a_run(db: TestDb<Postgres>) {
    let folder = TempDir::new().unwrap();
    let mut child = quickstart(folder.path(), &["--json", "--database", db.url()]);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let schemas = format!(
        "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'quickstart\\_{}\\_%'",
        child.id()
    );
    eventually("its schema is there", async || db.value::<i64>(&schemas).await == 1).await;
    assert_complete(&child.wait_with_output().unwrap());
    assert_eq!(db.value::<i64>(&schemas).await, 0);
}

async fn a_killed_worker_loses_nothing_on_postgres(db: TestDb<Postgres>) {
    let folder = TempDir::new().unwrap();
    let arguments = ["--json", "--kill-after", "300", "--database", db.url()];
    let output = run(folder.path(), &arguments);
    let reported = text(&output.stderr);
    assert!(reported.contains("killed the worker with -9"), "{reported}");
    assert_complete(&output);
}
