//! The effect of each threshold and mechanism of `src/tuning/table.rs` on speed and size, on data drawn at random.
//!
//! Data flow: seed -> cells of the benchmark `drawn`, each with several pieces of data -> [`measure`]: for each constant
//! that the calls read, sizes and times with the value, half and double the value, or without the mechanism -> [`report`]:
//! a Markdown table of means. `scripts/tune` runs it; `docs/tuning.md` has a table.

#[path = "../../tests/support/mod.rs"]
mod support;

#[path = "../drawn/cell.rs"]
#[allow(dead_code, reason = "the benchmark `drawn` has named cells")]
mod cell;
#[path = "../drawn/families.rs"]
mod families;
#[path = "../drawn/files.rs"]
mod files;
mod linked;
mod measure;
mod options;
mod report;

use std::process::ExitCode;

use blosc2::internals::tuning::{Operation, ROWS};
use cell::{CODECS, Cell, DrawRanges};
use measure::{Call, CellCalls};
use options::Options;
use report::Report;
use support::calls;

/// The number of cells that are drawn to find those of one family.
const MAX_INDEX: u64 = 1 << 20;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tune: {message}\n{}", options::USAGE);
            return ExitCode::FAILURE;
        }
    };
    println!("seed {}, {} cells for each codec and level", options.seed, options.cells);
    let mut report = Report::default();
    for codec in CODECS {
        let rows: Vec<usize> = (0..ROWS.len())
            .filter(|&row| options.is_selected(ROWS[row].name) && ROWS[row].codecs.contains(&codec.1))
            .collect();
        if rows.is_empty() {
            continue;
        }
        let draw = DrawRanges { codecs: vec![codec], max_chunk_len: options.max_chunk_len };
        let is_wanted = |cell: &Cell| {
            options.family.as_ref().is_none_or(|family| cell.family == family)
                && options.filters.as_ref().is_none_or(|filters| cell.filters == filters)
                && (options.typesizes.is_empty() || options.typesizes.contains(&cell.params.typesize))
        };
        let cells = (0..MAX_INDEX).map(|index| Cell::draw(options.seed, index, &draw)).filter(is_wanted);
        for (index, mut cell) in cells.take(options.cells).enumerate() {
            cell.params.nthreads = 1;
            cell.nbytes = options.nbytes.unwrap_or(cell.nbytes);
            let data = cell.data_sets(options.data_sets);
            let with = |operation| rows.iter().copied().filter(move |&row| ROWS[row].operation == operation);
            let compress: Vec<usize> = with(Operation::Compress).collect();
            let decompress: Vec<usize> = with(Operation::Decompress).collect();
            let both: Vec<usize> = with(Operation::Both).collect();
            // Only the encoders depend on the level.
            CellCalls::new(&options, &cell, &data).measure(Call::Compress, &both, &mut report);
            for call_rows in [&decompress, &both] {
                CellCalls::new(&options, &cell, &data).measure(Call::Decompress, call_rows, &mut report);
            }
            for &clevel in options.levels.iter().filter(|_| !compress.is_empty()) {
                cell.params.clevel = clevel;
                CellCalls::new(&options, &cell, &data).measure(Call::Compress, &compress, &mut report);
            }
            eprint!("\r{} {}/{} ", codec.1, index + 1, options.cells);
        }
    }
    eprintln!();
    println!("{}", report.table(options.lists_levels));
    ExitCode::SUCCESS
}
