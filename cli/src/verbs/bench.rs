//! `blosc2 bench`: measures codecs, levels and filters on the data of the user.
//!
//! Data flow: file -> [`sample`] -> a measurement for each cell of the [`grid`] -> the best rows ([`report`]) -> table or
//! JSON on stdout, and a [`chart`].

mod chart;
mod grid;
mod measure;
mod report;
mod sample;

use crate::args::BenchArguments;
use crate::error::{Failure, WithPath};
use crate::output::{TemporaryPath, check_is_new};
use crate::results::Results;
use crate::terminal::Terminal;
use report::Report;
use sample::Sample;

/// Runs the verb.
pub(crate) fn run(arguments: &BenchArguments, terminal: &Terminal) -> Result<(), Failure> {
    // Before the measurement, which takes minutes.
    arguments.svg.as_deref().map_or(Ok(()), check_is_new)?;
    let threads = arguments.threads.count();
    let sample = Sample::read(arguments, threads)?;
    let cells = grid::cells(arguments, sample.typesize)?;
    let progress = terminal.count_progress("bench", cells.len() as u64);
    let mut rows = Vec::with_capacity(cells.len());
    for cell in cells {
        rows.push(
            measure::measure(cell, &sample, threads)
                .map_err(|error| Failure::file(&arguments.file, format_args!("{cell}: {error}")))?,
        );
        progress.add(1);
    }
    drop(progress);
    let report = Report::new(arguments, &sample, threads, rows);
    if let Some(path) = &arguments.svg {
        let temporary = TemporaryPath::new(path)?;
        std::fs::write(temporary.path(), chart::svg(&report)).with_path(path)?;
        temporary.commit(false, false)?;
    }
    let mut results = Results::new();
    if arguments.json {
        results.json(&report)?;
    } else {
        report.print(&mut results)?;
    }
    results.finish()
}
