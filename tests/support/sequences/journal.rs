//! Records the calls of a sequence, one line per call, in memory and in a file: the file survives a crash.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// See the module documentation.
pub struct Journal {
    pub lines: Vec<String>,
    file: File,
    step: String,
}

impl Journal {
    pub fn new(path: &Path) -> Journal {
        Journal { lines: Vec::new(), file: File::create(path).expect("a journal"), step: String::new() }
    }

    /// Starts step `step`: the lines that follow belong to it.
    pub fn start_step(&mut self, step: &str) {
        self.step = format!("{step}: ");
    }

    pub fn record(&mut self, line: &str) {
        let line = format!("{}{line}", self.step);
        // Written before the call, so that the line exists if the call does not return.
        writeln!(self.file, "{line}").expect("the journal");
        self.lines.push(line);
    }
}
