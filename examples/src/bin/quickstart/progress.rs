//! What is said while the work goes on, on stderr: stdout is for the summary.

use std::io::{self, IsTerminal, Write};

use crate::summary::Counts;

/// Says a line. A reader who has gone away is no reason to stop the work.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A line that is written over and over, if there is somebody to look at it.
pub(crate) struct Progress {
    is_watched: bool,
    is_open: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { is_watched: io::stderr().is_terminal(), is_open: false }
    }

    pub(crate) fn show(&mut self, counts: &Counts) {
        if self.is_watched {
            self.is_open = true;
            let Counts { stored, acked, retried, dead_lettered, left } = counts;
            // Clears the rest of the line, because the last one may have been longer.
            let _ = write!(
                io::stderr(),
                "\r{stored} events stored; rows: {acked} acked, {retried} retried, \
                 {dead_lettered} dead-lettered, {left} left\x1b[K"
            );
        }
    }

    /// Says a line that stays.
    pub(crate) fn note(&mut self, line: &str) {
        self.end();
        say(line);
    }

    pub(crate) fn end(&mut self) {
        if self.is_open {
            self.is_open = false;
            say("");
        }
    }
}
