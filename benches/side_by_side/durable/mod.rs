//! Group `durable`: changes of frames on disk at each durability level (`BLOSC2_DURABILITY`) and with checksums
//! (`BLOSC2_CHECKSUMS`), with LZ4 at level 5 and shuffle on one thread.
//!
//! Each cell has two ratios: to our library at level `off` without checksums, and to the reference. The variants of an
//! operation alternate. Before an operation is timed, the reference reads the files of every variant, and the contents
//! are compared. Files are in the system's temporary directory (`TMPDIR`). The times of level `power` depend on its disk.
//! Those of directories depend on its file system, because a commit to a directory creates and removes files. On ext4
//! without a journal (no `jbd2` thread), the system searches all recently freed inodes for each new file
//! (`recently_deleted` in `perf`): 0.3 ms for a new file were measured there, and 0.02 ms on ext4 with a journal.

mod arrays;
mod changes;
mod checksums;
mod growth;
mod variants;

use crate::Bench;
use crate::report::Report;
use variants::{COLUMNS, warn_without_levels};

/// Measures the cells of this group that `--only` selects.
pub fn run(bench: &Bench) -> Report {
    warn_without_levels();
    let mut report = Report::new("durable", &COLUMNS, bench.options.summary);
    changes::run(bench, &mut report);
    arrays::run(bench, &mut report);
    checksums::run(bench, &mut report);
    growth::run(bench, &mut report);
    report
}
