//! The memory of each library beyond the data, with 1, 2 and 8 threads: the peak while a super-chunk is filled and
//! read, and the rest after it is freed. One process per figure.
//!
//! ```text
//! scripts/fetch-reference.sh
//! cargo bench --bench memory
//! ```

#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../tests/memory/usage.rs"]
mod usage;

use usage::{CODECS, NTHREADS, Task, measure, run_task};

fn main() {
    if run_task() {
        return;
    }
    if support::both_libraries().is_none() {
        return;
    }
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!("MiB beyond the data       peak: ours  C library    after free: ours  C library");
    for (name, codec) in CODECS {
        for nthreads in NTHREADS {
            let [ours, theirs] =
                [false, true].map(|is_reference| measure(Task { is_reference, codec, nthreads }, &[]));
            println!(
                "{name:8} {nthreads} threads {:16.1} {:10.1} {:19.1} {:10.1}",
                mib(ours.peak),
                mib(theirs.peak),
                mib(ours.after_free),
                mib(theirs.after_free)
            );
        }
    }
}
