//! The measurement of one combination.

use super::grid::Cell;
use super::sample::Sample;
use crate::array_reader::resize;
use blosc2::{Chunk, Decoder, Encoder};
use std::error::Error;
use std::time::{Duration, Instant};

/// Each direction is repeated at least this often, so that one run has warm caches.
const LEAST_REPETITIONS: usize = 2;
/// No repetition starts after this time, for each of the two directions of a combination.
const TIME_LIMIT: Duration = Duration::from_millis(250);

/// The measurements.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub cell: Cell,
    /// Length of the content in bytes.
    pub nbytes: u64,
    /// Length of the chunks in bytes.
    pub cbytes: u64,
    /// The shortest time in seconds.
    pub write_seconds: f64,
    /// The shortest time in seconds.
    pub read_seconds: f64,
}

impl Row {
    /// Returns the length of the content divided by that of the chunks.
    pub(super) fn ratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes as f64
    }

    /// Returns the speed of compression in MB of content per second.
    pub(super) fn write_speed(&self) -> f64 {
        self.nbytes as f64 / 1e6 / self.write_seconds
    }

    /// Returns the speed of decompression in MB of content per second.
    pub(super) fn read_speed(&self) -> f64 {
        self.nbytes as f64 / 1e6 / self.read_seconds
    }
}

/// Compresses and decompresses the sample, and compares the result with it.
///
/// # Errors
/// Those of compression and decompression; other content after decompression.
pub(super) fn measure(cell: Cell, sample: &Sample, threads: usize) -> Result<Row, Box<dyn Error>> {
    let mut encoder = Encoder::new(&cell.params(threads))?;
    let mut chunks: Vec<Chunk<'static>> = Vec::new();
    let write_seconds = best_time(|| {
        let compressed = sample.chunks.iter().map(|content| encoder.compress(content));
        chunks = compressed.collect::<blosc2::Result<_>>()?;
        Ok(())
    })?;
    let mut decoder = Decoder::with_threads(threads)?;
    // Written here, so that the first repetition does not wait for pages of memory.
    let mut contents: Vec<Vec<u8>> = vec![Vec::new(); sample.chunks.len()];
    for (content, chunk) in contents.iter_mut().zip(&sample.chunks) {
        resize(content, chunk.len())?;
        content.fill(1);
    }
    let read_seconds = best_time(|| {
        for (chunk, content) in chunks.iter().zip(&mut contents) {
            decoder.decompress_into(chunk, content)?;
        }
        Ok(())
    })?;
    if contents != sample.chunks {
        return Err("the content after decompression differs from the one before".into());
    }
    let cbytes = chunks.iter().map(|chunk| chunk.as_bytes().len() as u64).sum();
    Ok(Row { cell, nbytes: sample.nbytes(), cbytes, write_seconds, read_seconds })
}

/// Returns the shortest time of the repetitions of an operation in seconds, above 0.
fn best_time(mut operation: impl FnMut() -> blosc2::Result<()>) -> blosc2::Result<f64> {
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut repetitions = 0;
    while repetitions < LEAST_REPETITIONS || start.elapsed() < TIME_LIMIT {
        let repetition = Instant::now();
        operation()?;
        best = best.min(repetition.elapsed());
        repetitions += 1;
    }
    Ok(best.max(Duration::from_nanos(1)).as_secs_f64())
}
