//! Size and speed against the reference library on data and parameters drawn at random: the check that a heuristic of
//! an encoder holds on data that it was not tuned with.
//!
//! Data flow: seed -> [`cell`]: parameters and a source of data -> [`families`], [`files`]: bytes -> [`measure`]:
//! chunks and times of both libraries -> [`report`]: means, worst cells, and the cells beyond the limits, each with its
//! seed.
//!
//! ```text
//! scripts/fetch-reference.sh; scripts/fetch-bench-data.sh
//! cargo bench --bench drawn                                  # 1000 cells, seed 1
//! cargo bench --bench drawn -- --seed 7 --cells 20000        # the acceptance run
//! cargo bench --bench drawn -- --codecs zlib --sizes         # sizes only: one call of each library per cell
//! cargo bench --bench drawn -- --releases                   # sizes beside releases 2.15.2 and 2.22.1
//! cargo bench --bench drawn -- --cell 7:1234                 # one cell again
//! cargo bench --bench drawn -- --named                       # the cells that `named` lists
//! ```

#[path = "../../tests/support/mod.rs"]
mod support;

mod cell;
mod families;
mod files;
mod measure;
mod named;
mod options;
mod releases;
mod report;

use std::process::ExitCode;
use std::time::Instant;

use cell::Cell;
use options::{CellSelection, Options};
use report::Report;
use support::{calls, library};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("drawn: {message}\n{}", options::USAGE);
            return ExitCode::FAILURE;
        }
    };
    let cells = cells(&options);
    if options.releases {
        return print_sizes_of_releases(cells, options.list);
    }
    let Some(reference) = library::Library::reference() else {
        eprintln!("drawn: no reference library to compare with (run scripts/fetch-reference.sh)");
        return ExitCode::FAILURE;
    };
    let libraries = measure::Libraries { ours: library::Library::ours(), reference };
    let start = Instant::now();
    let mut report = Report::default();
    for cell in cells {
        let ratios = measure::measure(&libraries, &cell, options.rounds);
        if options.prints_all() {
            println!("{cell}: {ratios}");
        }
        report.add(&cell, ratios);
    }
    println!("{}", report.tables(options.rounds > 0));
    println!("{}", report.outliers(options.list, options.rounds > 0));
    println!("{:.0} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

/// Returns the cells to measure.
fn cells(options: &Options) -> Box<dyn Iterator<Item = Cell> + '_> {
    match options.which {
        CellSelection::Single(seed, index) => {
            Box::new(std::iter::once(Cell::draw(seed, index, &options.draw)))
        }
        CellSelection::Named => Box::new(named::named_cells().into_iter()),
        CellSelection::Drawn { seed, cells, first } => {
            let draw = &options.draw;
            Box::new((first..first + cells).map(move |index| Cell::draw(seed, index, draw)))
        }
    }
}

fn print_sizes_of_releases(cells: impl Iterator<Item = Cell>, list: usize) -> ExitCode {
    match releases::compare_sizes(cells) {
        Ok(reports) => {
            for (version, report) in reports {
                println!("beside {version}\n{}\n{}", report.tables(false), report.outliers(list, false));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("drawn: {error} (run scripts/fetch-old-releases.sh)");
            ExitCode::FAILURE
        }
    }
}
