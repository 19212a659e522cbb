//! What the command line says.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::Result;

pub(crate) const HELP: &str = "\
Loads a week of earthquakes as rows of a queue table, works on them with two
handlers, one of which fails on purpose now and then, and says what became of them.

usage: cargo run --bin quickstart -- [OPTIONS]

options:
  --json            print the summary as one line of JSON
  --events FILE     take the events from a file with one JSON object a line,
                    each with an `id` (text), and perhaps `time` (milliseconds since
                    1970), `mag` (number) and `place` (text)
  --database URL    run on PostgreSQL, in a schema of its own that is dropped at the end:
                    --database postgres://user:password@localhost/mydb
                    (without it: on a SQLite file in a temporary folder)
  --kill-after N    do the work in a second process, kill it with -9 after N events,
                    and start it again
  --help            print this

Ctrl-C lets the handlers finish and prints the summary of what was done.
";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Run(Options),
    /// What a process with `--kill-after` starts; nobody types it.
    Work {
        address: OsString,
    },
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) json: bool,
    pub(crate) events: Option<PathBuf>,
    pub(crate) database: Option<String>,
    pub(crate) kill_after: Option<u64>,
}

impl Command {
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut arguments = arguments.into_iter();
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            let (name, attached) = split(&argument);
            let mut value = |what: &str| {
                attached.clone().or_else(|| arguments.next()).ok_or_else(|| {
                    format!("`{name}` needs {what} behind it: `{name} {}`", what.to_uppercase())
                })
            };
            match name.as_str() {
                "--events" => options.events = Some(value("file")?.into()),
                "--database" => options.database = Some(text(value("url")?)?),
                "--kill-after" => options.kill_after = Some(number(&value("n")?)?),
                WORK => return Ok(Self::Work { address: value("address")? }),
                "--json" | "--help" | "-h" if attached.is_some() => {
                    return Err(format!("`{name}` takes no value: write `{name}`").into());
                }
                "--json" => options.json = true,
                "--help" | "-h" => return Ok(Self::Help),
                _ => return Err(unknown(&argument.to_string_lossy()).into()),
            }
        }
        Ok(Self::Run(options))
    }
}

/// The option of a process that only works, at the address behind it.
pub(crate) const WORK: &str = "--work";

/// `--name=value` or `--name`.
fn split(argument: &OsStr) -> (String, Option<OsString>) {
    match argument.to_str().and_then(|argument| argument.split_once('=')) {
        Some((name, value)) => (name.to_owned(), Some(value.into())),
        None => (argument.to_string_lossy().into_owned(), None),
    }
}

fn text(value: OsString) -> Result<String> {
    value.into_string().map_err(|_| "the URL of the database is not UTF-8".into())
}

fn number(value: &OsStr) -> Result<u64> {
    let value = value.to_string_lossy();
    value.parse().map_err(|_| {
        format!("`--kill-after` takes a number of events, not `{value}`: `--kill-after 300`").into()
    })
}

fn unknown(argument: &str) -> String {
    format!(
        "`{argument}` is no option; there are `--json`, `--events FILE`, `--database URL`, \
         `--kill-after N` and `--help`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> std::result::Result<Command, String> {
        let arguments = arguments.iter().map(OsString::from);
        Command::parse(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn values_stand_behind_a_space_or_an_equals_sign() {
        let expected = Options {
            json: true,
            events: Some("a=b.jsonl".into()),
            database: Some("postgres://localhost/a?b=c".to_owned()),
            kill_after: Some(3),
        };
        let spaced = ["--database", "postgres://localhost/a?b=c", "--kill-after", "3"];
        let spaced = [&["--json", "--events", "a=b.jsonl"], &spaced[..]].concat();
        let joined = ["--database=postgres://localhost/a?b=c", "--kill-after=3"];
        let joined = [&["--events=a=b.jsonl", "--json"], &joined[..]].concat();
        assert_eq!(parse(&spaced), Ok(Command::Run(expected)));
        assert_eq!(parse(&joined), parse(&spaced));
        assert_eq!(parse(&["--help", "--wrong"]), Ok(Command::Help));
    }

    #[test]
    fn an_error_says_what_to_type() {
        for (arguments, part) in [
            (["--jsn"].as_slice(), "`--jsn` is no option; there are `--json`"),
            (&["events.jsonl"], "`events.jsonl` is no option"),
            (&["--events"], "`--events FILE`"),
            (&["--kill-after", "many"], "not `many`: `--kill-after 300`"),
            (&["--json=yes"], "write `--json`"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
