//! Results on stdout.

use crate::error::{Failure, WithPath};
use crate::pipe::stdout_name;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};

/// The results of a verb, as lines or as JSON. They are written at the latest by [`finish`](Self::finish).
pub(crate) struct Results(BufWriter<StdoutLock<'static>>);

impl Results {
    pub(crate) fn new() -> Results {
        Results(BufWriter::new(io::stdout().lock()))
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        writeln!(self.0, "{line}").with_path(stdout_name())
    }

    /// Writes a value as JSON, and ends the line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.write_json(value)?;
        self.line("")
    }

    /// Starts an array of JSON, whose elements are written one by one.
    pub(crate) fn json_array(&mut self) -> JsonArray<'_> {
        JsonArray { results: self, is_empty: true }
    }

    /// Writes what is buffered.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.0.flush().with_path(stdout_name())
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.0.write_all(text.as_bytes()).with_path(stdout_name())
    }

    fn write_json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.0, value).map_err(io::Error::from).with_path(stdout_name())
    }
}

/// An array of JSON that is written element by element.
pub(crate) struct JsonArray<'a> {
    results: &'a mut Results,
    is_empty: bool,
}

impl JsonArray<'_> {
    /// Writes an element.
    pub(crate) fn element(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.results.text(if self.is_empty { "[\n" } else { ",\n" })?;
        self.is_empty = false;
        self.results.write_json(value)
    }

    /// Ends the array.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.results.text(if self.is_empty { "[]\n" } else { "\n]\n" })
    }
}
