//! Group `small`: buffers of 512 bytes to 32 KiB, for which the overhead of a call dominates.

use crate::Bench;
use crate::chunks::measure;
use crate::codec_grid::{ContextPair, GridPoint};
use crate::datasets::Dataset;
use crate::report::{COMPRESS, Report, SIZE};

/// Lengths in bytes.
pub const SIZES: [usize; 4] = [512, 2048, 8192, 32768];

/// Measures the middle level of the grid on the first bytes of a few data sets.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("small", &[SIZE, COMPRESS, "decompress"], bench.options.summary);
    let sets = load_sets(bench);
    for point in GridPoint::of_middle_level(bench) {
        for set in &sets {
            for size in SIZES.into_iter().filter(|&size| size <= set.bytes.len()) {
                let data = &set.bytes[..size];
                let name = format!("{point} {} {size} bytes", set.name);
                if bench.options.is_selected(point.codec.1, &name) {
                    let mut pair = ContextPair::new(bench, point, data, set.typesize);
                    report.add(point.codec.1, name, measure(bench, point, data, &mut pair));
                }
            }
        }
    }
    report
}

/// Loads the first of the selected data sets: 2, or 6 with `--full`.
pub fn load_sets(bench: &Bench) -> Vec<Dataset> {
    let names = &bench.options.data[..bench.options.data.len().min(if bench.options.full { 6 } else { 2 })];
    Dataset::load(names, SIZES[SIZES.len() - 1])
}
