//! The events of a file: one JSON object a line.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Result, progress};

/// One week of earthquakes, as the United States Geological Survey reports them.
const A_WEEK: &[u8] = include_bytes!("../../../data/earthquakes.jsonl");

/// From this magnitude on somebody is told.
const ALARMING: f64 = 4.5;

/// An earthquake: the message of the queue. Whatever else its line says is not needed here.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) id: String,
    /// Milliseconds since 1970.
    pub(crate) time: Option<i64>,
    pub(crate) mag: Option<f64>,
    pub(crate) place: Option<String>,
}

impl Event {
    pub(crate) fn is_alarming(&self) -> bool {
        self.mag.is_some_and(|mag| mag >= ALARMING)
    }
}

/// A line that is no event, and why.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) line: Vec<u8>,
    pub(crate) reason: String,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) readable: Vec<Event>,
    pub(crate) unreadable: Vec<Unreadable>,
    name: String,
}

impl Events {
    /// Reads a file, or the week that is part of this program, and reports each line that is no
    /// event. Blank lines are none, and no mistake.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self> {
        let (name, bytes) = match file {
            None => ("the week of earthquakes".to_owned(), Cow::Borrowed(A_WEEK)),
            Some(path) => {
                let name = format!("`{}`", path.display());
                let bytes = fs::read(path)
                    .map_err(|error| format!("the events in {name} cannot be read: {error}"))?;
                (name, Cow::Owned(bytes))
            }
        };
        let events = Self::parse(name, &bytes);
        for Unreadable { reason, .. } in &events.unreadable {
            progress::say(&format!("{}: {reason}; it becomes a dead letter", events.name));
        }
        if events.readable.is_empty() && events.unreadable.is_empty() {
            return Err(format!("{} is empty; {WANTED}", events.name).into());
        }
        Ok(events)
    }

    fn parse(name: String, bytes: &[u8]) -> Self {
        let mut events = Self { readable: Vec::new(), unreadable: Vec::new(), name };
        for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(event) => events.readable.push(event),
                Err(error) => {
                    let reason = format!("line {}: {}", index + 1, without_place(&error));
                    events.unreadable.push(Unreadable { line: line.to_vec(), reason });
                }
            }
        }
        events
    }

    /// A file of which no line could be read was most likely the wrong one.
    pub(crate) fn some_are_readable(&self) -> Result<()> {
        if self.readable.is_empty() {
            return Err(format!("no line of {} is an event; {WANTED}", self.name).into());
        }
        Ok(())
    }
}

const WANTED: &str = "each line should be like `{\"id\": \"ci37868143\", \"time\": 1517966773840, \
                      \"mag\": 2.0, \"place\": \"4km W of Castaic, CA\"}`";

/// The error without its line number, which is always 1, and would look like the file's.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(text) => format!("{text} at column {}", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_event_is_kept_with_its_number() {
        let lines =
            b"{\"id\": \"a\", \"time\": 1, \"mag\": 4.5}\n\nnot json\r\n{\"time\": 2}\n\xff";
        let events = Events::parse("a file".to_owned(), lines);
        assert_eq!(events.readable.len(), 1);
        assert!(events.readable[0].is_alarming());
        let reasons: Vec<_> = events.unreadable.iter().map(|line| line.reason.as_str()).collect();
        let expected = [
            "line 3: expected ident at column 2",
            "line 4: missing field `id` at column 11",
            "line 5: expected value at column 1",
        ];
        assert_eq!(reasons, expected);
        assert_eq!(events.unreadable[2].line, b"\xff");
    }
}
