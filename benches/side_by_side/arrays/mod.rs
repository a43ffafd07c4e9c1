//! Group `arrays`: arrays of 2, 3 and 4 dimensions in memory, with LZ4 at level 5 and shuffle, on one thread and two.
//!
//! Both libraries read the chunks that the reference has compressed. Before a cell is timed, their results are
//! compared.

mod cases;
mod changes;
mod reads;
pub mod separate_processes;

use crate::Bench;
use crate::report::{Report, SPEED};
use cases::CASES;

/// Measures the cells of this group that `--only` selects.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("arrays", &[SPEED], bench.options.summary);
    for nthreads in [1, 2] {
        // Quick mode: two threads on one array only.
        let cases = if nthreads == 1 || bench.options.full { &CASES[..] } else { &CASES[..1] };
        for case in cases {
            let data = case.data();
            reads::run(bench, &mut report, case, &data, nthreads);
            changes::run(bench, &mut report, case, &data, nthreads);
        }
    }
    report
}

/// Returns whether `--only` selects a cell.
fn is_wanted(bench: &Bench, family: &str, name: &str) -> bool {
    bench.options.is_selected(family, name)
}
