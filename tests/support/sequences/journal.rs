//! What a sequence did, one line a call, in memory and in a file: the file survives a crash.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// See the module.
pub struct Journal {
    pub lines: Vec<String>,
    file: File,
    step: String,
}

impl Journal {
    pub fn new(path: &Path) -> Journal {
        Journal { lines: Vec::new(), file: File::create(path).expect("a journal"), step: String::new() }
    }

    /// What follows belongs to this step.
    pub fn mark(&mut self, step: &str) {
        self.step = format!("{step}: ");
    }

    pub fn say(&mut self, line: &str) {
        let line = format!("{}{line}", self.step);
        // Before the call, so that it is there when the call does not return.
        writeln!(self.file, "{line}").expect("the journal");
        self.lines.push(line);
    }
}
