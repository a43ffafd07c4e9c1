//! Group `chunks`: whole chunks compressed and decompressed in contexts that are reused.

use crate::Bench;
use crate::codec_grid::{ContextPair, GridPoint, LibraryContexts};
use crate::datasets::Dataset;
use crate::report::{COMPRESS, Report, SIZE};
use crate::timing::speed_ratio;

/// Measures every point of the grid on every data set. "decompress": both libraries decompress the reference's chunk,
/// so that the work is the same. "read back": each library decompresses its own chunk, as after a program has switched
/// to it.
pub fn run(bench: &Bench) -> Report {
    let mut report =
        Report::new("chunks", &[SIZE, COMPRESS, "decompress", "read back"], bench.options.summary);
    let sets: Vec<Dataset> = Dataset::load(&bench.options.data, bench.options.chunk_nbytes);
    for point in GridPoint::all(bench) {
        for set in &sets {
            let name = format!("{point} {}", set.name);
            if bench.options.is_selected(point.codec.1, &name) {
                let mut pair = ContextPair::new(bench, point, &set.bytes, set.typesize);
                let mut ratios = measure(bench, point, &set.bytes, &mut pair);
                ratios.push(read_back(bench, point, set.bytes.len(), &mut pair));
                report.add(point.codec.1, name, ratios);
            }
        }
    }
    report
}

/// Returns the ratios of one cell: size, compression, decompression.
pub fn measure(bench: &Bench, point: GridPoint, data: &[u8], pair: &mut ContextPair) -> Vec<f64> {
    let ContextPair { ours, reference } = pair;
    let size = reference.chunk.len() as f64 / ours.chunk.len() as f64;
    let mut ours_dest = vec![0; data.len() + 32];
    let mut reference_dest = ours_dest.clone();
    let compress = speed_ratio(
        &bench.options,
        point.nthreads,
        || assert!(ours.compressor.compress(data, &mut ours_dest) > 0),
        || assert!(reference.compressor.compress(data, &mut reference_dest) > 0),
    );
    let (ours_dest, reference_dest) = (&mut ours_dest[..data.len()], &mut reference_dest[..data.len()]);
    let chunk = &reference.chunk;
    let decompress = speed_ratio(
        &bench.options,
        point.nthreads,
        || assert!(ours.decompressor.decompress(chunk, ours_dest) > 0),
        || assert!(reference.decompressor.decompress(chunk, reference_dest) > 0),
    );
    vec![size, compress, decompress]
}

/// Returns the speed ratio if each library decompresses its own chunk of `nbytes` uncompressed bytes.
fn read_back(bench: &Bench, point: GridPoint, nbytes: usize, pair: &mut ContextPair) -> f64 {
    let mut dests = [vec![0; nbytes], vec![0; nbytes]];
    let [ours_dest, reference_dest] = &mut dests;
    let read = |contexts: &mut LibraryContexts, dest: &mut [u8]| {
        assert!(contexts.decompressor.decompress(&contexts.chunk, dest) > 0)
    };
    let ContextPair { ours, reference } = pair;
    speed_ratio(&bench.options, point.nthreads, || read(ours, ours_dest), || read(reference, reference_dest))
}
