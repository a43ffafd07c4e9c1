//! Peak memory for 1, 2 and 8 threads, against the limit in `docs/memory.md`.

use crate::support::child::test_name;
use crate::usage::{CODECS, NTHREADS, Task, measure, run_task};

/// Returns the limits that `docs/memory.md` states for `nthreads` threads, in bytes: for the peak, and for the memory
/// after the free.
fn limits(nthreads: i16) -> [usize; 2] {
    let document = include_str!("../../docs/memory.md");
    let row = document.lines().find(|line| line.starts_with(&format!("| {nthreads} thread")));
    let row = row.unwrap_or_else(|| panic!("docs/memory.md has no row for {nthreads} threads"));
    [2, 5].map(|column| {
        let mib = row.split('|').nth(column).and_then(|cell| cell.trim().strip_suffix(" MiB"));
        let mib: Option<usize> = mib.and_then(|mib| mib.parse().ok());
        mib.unwrap_or_else(|| panic!("no limit in column {column} of {row}")) << 20
    })
}

/// Entry point of the processes that `measure` starts. Without a task in the environment, this test does nothing.
#[test]
fn process_that_measures() {
    run_task();
}

#[test]
fn memory_beyond_the_data_is_within_the_documented_limits() {
    for nthreads in NTHREADS {
        let [peak, after_free] = limits(nthreads);
        for (name, codec) in CODECS {
            let task = Task { is_reference: false, codec, nthreads };
            let usage = measure(task, &["--exact", test_name!(process_that_measures), "--nocapture"]);
            let found = [("peak", usage.peak, peak), ("after the free", usage.after_free, after_free)];
            for (when, found, limit) in found {
                assert!(found <= limit, "{name}, {nthreads} threads, {when}: {found} bytes, limit {limit}");
            }
        }
    }
}
