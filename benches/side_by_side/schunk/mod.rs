//! Group `schunk`: super-chunks in each kind of store, with LZ4 at level 5 and shuffle.
//!
//! Both libraries read the chunks that the reference has compressed, and frames on disk from the same file. Files are
//! in the system's temporary directory, so mostly in the page cache. Before a cell is timed, the results of both
//! libraries are compared.

mod changes;
pub mod handles;
mod reads;

use crate::Bench;
use crate::report::{Report, SPEED};

/// Measures the cells of this group that `--only` selects.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("schunk", &[SPEED], bench.options.summary);
    changes::run(bench, &mut report);
    reads::run(bench, &mut report);
    report
}

/// Returns whether `--only` selects a cell.
fn is_wanted(bench: &Bench, store: &str, name: &str) -> bool {
    bench.options.is_selected(store, name)
}
