//! Group `blosc1-drawn`: the cells of the benchmark `drawn`, data and parameters, as far as Blosc 1 has them.

use std::ffi::CString;

use super::library::Settings;
use super::{Libraries, Pair};
use crate::Bench;
use crate::cell::{Cell, DrawRanges};
use crate::report::Report;

/// Measures `--cells` cells of the run `--seed`. Of the filters of a cell only the shuffles are used; each second cell is
/// measured with the functions without `_ctx`.
pub fn run(bench: &Bench) -> Report {
    let libraries = Libraries::load();
    let mut report = super::report("blosc1-drawn", bench);
    let ranges =
        DrawRanges { codecs: bench.options.codecs.clone(), max_chunk_len: bench.options.chunk_nbytes };
    for index in 0..bench.options.cells {
        let cell = Cell::draw(bench.options.seed, index, &ranges);
        let settings = Settings {
            codec: CString::new(cell.codec).expect("a name without NUL"),
            clevel: cell.params.clevel,
            shuffle: cell.params.filters.into_iter().find(|filter| [1, 2].contains(filter)).unwrap_or(0),
            typesize: cell.params.typesize as usize,
            nthreads: cell.params.nthreads,
            is_global: index % 2 == 1,
        };
        let name = cell.to_string();
        if bench.options.is_selected(cell.codec, &name) {
            let content = cell.data_sets(1).remove(0);
            let pair = Pair::new(&libraries, settings, &content, &name);
            report.add(cell.codec, name, pair.ratios(bench));
        }
    }
    report
}
