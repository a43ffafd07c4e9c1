//! Group `items`: parts of a chunk, read with `blosc2_getitem_ctx` in a context that is reused.

use crate::Bench;
use crate::calls::OwnedContext;
use crate::codec_grid::{ContextPair, GridPoint};
use crate::datasets::{Dataset, SplitMix64};
use crate::report::Report;
use crate::timing::speed_ratio;

/// Numbers of items.
pub const COUNTS: [usize; 3] = [1, 100, 10_000];

/// The number of random positions that are read in turn.
const POSITIONS: usize = 64;

/// Measures the middle level of the grid: both libraries read 1, 100 and 10 000 items of the reference's chunk.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("items", &["getitem"], bench.options.summary);
    let sets = load_sets(bench);
    for point in GridPoint::of_middle_level(bench) {
        for set in &sets {
            let typesize = set.typesize as usize;
            let ContextPair { mut ours, mut reference } =
                ContextPair::new(bench, point, &set.bytes, set.typesize);
            for count in COUNTS.into_iter().filter(|&count| count * typesize <= set.bytes.len()) {
                let name = format!("{point} {} {count} items", set.name);
                if !bench.options.is_selected(point.codec.1, &name) {
                    continue;
                }
                let places = random_positions(set.bytes.len() / typesize - count);
                let mut dest = vec![0; count * typesize];
                let mut reference_dest = dest.clone();
                let chunk = &reference.chunk;
                for &start in &places {
                    let wanted = &set.bytes[start as usize * typesize..][..dest.len()];
                    read_items(&mut ours.decompressor, chunk, start, count, &mut dest);
                    assert!(dest == wanted, "{} {point} {}: wrong items at {start}", point.codec.1, set.name);
                }
                let ratio = speed_ratio(
                    &bench.options,
                    1,
                    call_for_each(&places, |start| {
                        read_items(&mut ours.decompressor, chunk, start, count, &mut dest)
                    }),
                    call_for_each(&places, |start| {
                        read_items(&mut reference.decompressor, chunk, start, count, &mut reference_dest)
                    }),
                );
                report.add(point.codec.1, name, vec![ratio]);
            }
        }
    }
    report
}

/// Loads the first of the selected data sets: 3, or 6 with `--full`.
pub fn load_sets(bench: &Bench) -> Vec<Dataset> {
    let names = &bench.options.data[..bench.options.data.len().min(if bench.options.full { 6 } else { 3 })];
    Dataset::load(names, bench.options.chunk_nbytes)
}

/// Returns the items that are read, each at most `last`.
pub fn random_positions(last: usize) -> Vec<i32> {
    let mut random = SplitMix64::new(7);
    (0..POSITIONS).map(|_| random.below(last + 1) as i32).collect()
}

/// Returns a function that calls `work` once for each of `places`.
pub fn call_for_each<'a>(places: &'a [i32], mut work: impl FnMut(i32) + 'a) -> impl FnMut() + 'a {
    move || places.iter().for_each(|&start| work(start))
}

fn read_items(context: &mut OwnedContext<'_>, chunk: &[u8], start: i32, count: usize, dest: &mut [u8]) {
    let read = context.getitem(chunk, start, count as i32, dest);
    assert!(read as usize == dest.len(), "items {start} + {count}: {read}");
}
