//! Peak memory for 1, 2 and 8 threads, against the limit in README.

use crate::usage::{CODECS, NTHREADS, Task, measure, run_task};

/// The limit that README states for `nthreads` threads, in bytes.
fn limit(nthreads: i16) -> usize {
    let readme = include_str!("../../README.md");
    let row = readme.lines().find(|line| line.starts_with(&format!("| {nthreads} thread")));
    let row = row.unwrap_or_else(|| panic!("README has no row of memory for {nthreads} threads"));
    let limit = row.split('|').nth(2).and_then(|cell| cell.trim().strip_suffix(" MiB"));
    limit.and_then(|mib| mib.parse::<usize>().ok()).unwrap_or_else(|| panic!("no limit in {row}")) << 20
}

/// Without a task in the environment, this test does nothing: it is the entry of the processes that `measure` starts.
#[test]
fn process_that_measures() {
    run_task();
}

#[test]
fn memory_beyond_the_data_is_within_the_limits_of_readme() {
    const AFTER_FREE: usize = 4 << 20;
    for nthreads in NTHREADS {
        for (name, codec) in CODECS {
            let task = Task { is_reference: false, codec, nthreads };
            let usage = measure(task, &["--exact", "peak::process_that_measures", "--nocapture"]);
            let limit = limit(nthreads);
            assert!(usage.peak <= limit, "{name}, {nthreads} threads: {} bytes, limit {limit}", usage.peak);
            assert!(
                usage.after_free <= AFTER_FREE,
                "{name}, {nthreads} threads: {} bytes stay",
                usage.after_free
            );
        }
    }
}
