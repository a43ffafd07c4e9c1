//! `blosc2 bench`: measures codecs, levels and filters on the data of the user.
//!
//! Data flow: file -> [`sample`] -> a measurement for each cell of the [`grid`] -> rows, the best ones first ([`report`]) -> table
//! or JSON on stdout, and charts ([`svg`], [`plot`]) on the same [`scales`].

mod grid;
mod measure;
mod plot;
mod report;
mod sample;
mod scales;
mod svg;

use crate::args::BenchArguments;
use crate::error::{Failure, WithPath};
use crate::output::{TemporaryPath, check_is_new};
use crate::results::Results;
use crate::terminal::Terminal;
use measure::Budget;
use report::Report;
use sample::Sample;
use std::io::{self, IsTerminal};

/// Runs the verb.
pub(crate) fn run(arguments: &BenchArguments, terminal: &Terminal) -> Result<(), Failure> {
    // Before the measurement, which takes minutes.
    arguments.svg.as_deref().map_or(Ok(()), check_is_new)?;
    let threads = arguments.threads.count();
    let sample = Sample::read(arguments, threads)?;
    let cells = grid::cells(arguments, sample.typesize)?;
    let progress = terminal.count_progress("bench", cells.len() as u64);
    let count = cells.len();
    let mut rows = Vec::with_capacity(count);
    let budget = Budget::of_seconds(arguments.seconds);
    for cell in cells {
        // The first one is measured in any case.
        let budget = if rows.is_empty() { Budget::unlimited() } else { budget };
        let row = measure::measure(cell, &sample, threads, budget)
            .map_err(|error| Failure::file(&arguments.file, format_args!("{cell}: {error}")))?;
        rows.extend(row);
        progress.add(1);
    }
    drop(progress);
    let unmeasured = count - rows.len();
    let report = Report::new(arguments, &sample, threads, rows, unmeasured);
    if let Some(path) = &arguments.svg {
        let temporary = TemporaryPath::new(path)?;
        std::fs::write(temporary.path(), svg::svg(&report)).with_path(path)?;
        temporary.commit(false, false)?;
    }
    let mut results = Results::new();
    if arguments.json {
        results.json(&report)?;
    } else {
        report.print(&mut results, arguments.top)?;
        if arguments.chart || io::stdout().is_terminal() {
            plot::lines(&report).iter().try_for_each(|line| results.line(line))?;
        }
        report.print_command(&mut results)?;
    }
    results.finish()
}
