//! Group `chunks`: whole chunks compressed and decompressed in contexts that are reused.

use crate::Bench;
use crate::codec_grid::{Pair, Point};
use crate::datasets::Dataset;
use crate::report::{COMPRESS, Report, SIZE};
use crate::timing::speed_ratio;

/// Every point of the grid on every data set. Decompression is of the reference's chunk, in both libraries,
/// so that it is the same work.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("chunks", &[SIZE, COMPRESS, "decompress"], bench.options.summary);
    let sets: Vec<Dataset> = Dataset::load(&bench.options.data, bench.options.chunk_nbytes);
    for point in Point::all(bench) {
        for set in &sets {
            let name = format!("{point} {}", set.name);
            if bench.options.wants(point.codec.1, &name) {
                report.add(point.codec.1, name, measure(bench, point, &set.bytes, set.typesize));
            }
        }
    }
    report
}

/// Size, compression and decompression of one cell.
pub fn measure(bench: &Bench, point: Point, data: &[u8], typesize: i32) -> Vec<f64> {
    let Pair { mut ours, mut reference } = Pair::new(bench, point, data, typesize);
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
