//! One line for each Blosc2 file in directories.

use super::subject::Subject;
use super::text::extents;
use crate::args::InfoArguments;
use crate::error::Failure;
use crate::kind::Kind;
use crate::output::with_final_names;
use crate::results::Results;
use crate::size::with_unit;
use crate::store;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use crate::walk::{Found, with_members};
use serde::Serialize;
use std::path::Path;

/// A file. In JSON: these keys; values that a file does not have are null.
#[derive(Serialize)]
pub(super) struct Row {
    path: String,
    /// `array`, `super-chunk` or `chunk`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `file` or `directory`.
    storage: &'static str,
    /// Extents of an array in items.
    shape: Option<Vec<u64>>,
    /// Data type of the items of an array.
    dtype: Option<String>,
    /// Length of the content in bytes.
    nbytes: u64,
    codec: String,
    /// Length of the content divided by that of the file, or of all files in the directory.
    ratio: f64,
}

/// Runs the verb for `--tree`.
pub(super) fn run(arguments: &InfoArguments, terminal: &Terminal) -> Result<(), Failure> {
    let mut walk = Walk { rows: Vec::new(), is_whole: true, terminal };
    for path in &arguments.files {
        walk.add_argument(path);
    }
    let mut results = Results::new();
    if arguments.json {
        let mut array = results.json_array();
        for row in &walk.rows {
            array.element(row)?;
        }
        array.end()?;
    } else {
        print(&walk.rows, &mut results)?;
    }
    results.finish()?;
    if walk.is_whole { Ok(()) } else { Err(Failure::reported()) }
}

/// The rows so far.
struct Walk<'a> {
    rows: Vec<Row>,
    /// Whether everything could be read.
    is_whole: bool,
    terminal: &'a Terminal,
}

impl Walk<'_> {
    /// Adds the file at `path`, which must be a Blosc2 file, or the files in the directory there.
    fn add_argument(&mut self, path: &Path) {
        if store::is_store(path) {
            return match with_members(&[path.to_owned()]) {
                Ok(members) => members.iter().for_each(|member| self.add_file(member)),
                Err(failure) => self.report(&failure),
            };
        }
        match Kind::of(path) {
            Ok(Kind::Directory) => self.add_directory(path),
            Ok(_) => self.add_file(path),
            Err(failure) => self.report(&failure),
        }
    }

    /// Adds the Blosc2 files in a directory, and in the directories in it.
    fn add_directory(&mut self, directory: &Path) {
        let is_blosc2 = |kind, _: &Path| matches!(kind, Kind::Frame | Kind::FrameDirectory | Kind::Chunk);
        let found = Found::in_directory(directory, self.terminal, is_blosc2);
        self.is_whole &= found.is_whole;
        found.files.iter().for_each(|path| self.add_file(path));
    }

    fn add_file(&mut self, path: &Path) {
        let opened = Seekable::new(path).and_then(|file| Ok((Subject::open(file.path())?, file)));
        match opened {
            Ok((subject, _file)) => self.rows.push(Row::new(&subject)),
            Err(failure) => self.report(&failure),
        }
    }

    fn report(&mut self, failure: &Failure) {
        self.is_whole = false;
        self.terminal.error(failure.message().unwrap_or_default());
    }
}

impl Row {
    fn new(subject: &Subject) -> Row {
        Row {
            path: with_final_names(&subject.path.display().to_string()),
            kind: subject.type_name(),
            storage: subject.storage(),
            shape: subject.array().map(|array| array.shape().to_vec()),
            dtype: subject.array().map(|array| array.dtype().to_owned()),
            nbytes: subject.nbytes(),
            codec: subject.codec(),
            ratio: subject.ratio(),
        }
    }

    fn cells(&self) -> [String; 6] {
        let size = self.shape.as_ref().map_or_else(|| with_unit(self.nbytes), |shape| extents(shape));
        let dtype = self.dtype.clone().unwrap_or_else(|| "-".to_owned());
        let ratio = format!("{:.2}", self.ratio);
        [self.path.clone(), self.kind.to_owned(), size, dtype, self.codec.clone(), ratio]
    }
}

/// Prints the rows in aligned columns.
fn print(rows: &[Row], results: &mut Results) -> Result<(), Failure> {
    let mut widths = [0; 6];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.cells()) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows {
        let cells = row.cells();
        let columns = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        results.line(columns.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
