//! Group `schunk`: super-chunks in each kind of store, with LZ4 at level 5 and shuffle.
//!
//! Reads are of the chunks that the reference made, in both libraries; frames on disk are read from the same file.
//! Files are in the system's directory for temporary ones, so mostly in its cache. Before a cell is timed, the answers
//! of both libraries are compared.

mod changes;
mod handles;
mod reads;

use crate::Bench;
use crate::report::{Report, SPEED};

/// All cells, or those with a certain text in their names.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("schunk", &[SPEED], bench.options.summary);
    changes::run(bench, &mut report);
    reads::run(bench, &mut report);
    report
}

/// Whether a cell is asked for.
fn is_wanted(bench: &Bench, store: &str, name: &str) -> bool {
    bench.options.wants(store, name)
}
