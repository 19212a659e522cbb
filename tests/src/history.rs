//! What handlers write down, so that it outlives the process that they run in.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// One line of a history: a delivery began, or came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Whether the handler got to its end.
    pub ended: bool,
    /// Which row.
    pub id: i64,
    /// The number of the delivery.
    pub attempt: u32,
}

/// A history that is being written. Clones of a process write to the same one.
#[derive(Debug)]
pub struct History(File);

impl History {
    /// Opens a file, and goes on at its end.
    #[must_use]
    pub fn append(path: &Path) -> Self {
        Self(File::options().create(true).append(true).open(path).unwrap())
    }

    /// Writes a line with one call of the system, which is done although the process is killed.
    pub fn write(&self, line: Line) {
        let word = if line.ended { "end" } else { "start" };
        let text = format!("{word} {} {}\n", line.id, line.attempt);
        (&self.0).write_all(text.as_bytes()).unwrap();
    }

    /// The lines of a file, in the order in which they were written. No file is no history.
    ///
    /// A line that is being written shows its first part where it crosses a page of the file.
    #[must_use]
    pub fn read(path: &Path) -> Vec<Line> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
        whole.lines().map(line).collect()
    }
}

fn line(text: &str) -> Line {
    let words: Vec<_> = text.split(' ').collect();
    let [word, id, attempt] = words[..] else { panic!("`{text}` is no line of a history") };
    Line { ended: word == "end", id: id.parse().unwrap(), attempt: attempt.parse().unwrap() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_read_as_it_was_written_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        assert_eq!(History::read(&path), []);
        let lines = [
            Line { ended: false, id: 7, attempt: 1 },
            Line { ended: true, id: 7, attempt: 1 },
            Line { ended: false, id: 8, attempt: 3 },
        ];
        History::append(&path).write(lines[0]);
        let again = History::append(&path);
        again.write(lines[1]);
        again.write(lines[2]);
        assert_eq!(History::read(&path), lines);
        (&again.0).write_all(b"st").unwrap();
        assert_eq!(History::read(&path), lines, "what is not whole is not there yet");
        (&again.0).write_all(b"art 9 1\n").unwrap();
        assert_eq!(History::read(&path)[3], Line { ended: false, id: 9, attempt: 1 });
    }
}
