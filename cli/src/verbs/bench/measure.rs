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

/// The time that all measurements may take.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    end: Option<Instant>,
}

impl Budget {
    /// Returns a budget that begins now.
    pub(super) fn of_seconds(seconds: u64) -> Budget {
        Budget { end: Instant::now().checked_add(Duration::from_secs(seconds)) }
    }

    /// Returns a budget without an end.
    pub(super) fn unlimited() -> Budget {
        Budget { end: None }
    }

    fn is_over(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Compresses and decompresses the sample, and compares the result with it. Returns `None` if the budget ends before.
///
/// # Errors
/// Those of compression and decompression; other content after decompression.
pub(super) fn measure(
    cell: Cell,
    sample: &Sample,
    threads: usize,
    budget: Budget,
) -> Result<Option<Row>, Box<dyn Error>> {
    let mut encoder = Encoder::new(&cell.params(threads))?;
    let count = sample.chunks.len();
    let mut chunks: Vec<Chunk<'static>> = Vec::new();
    let write_seconds = best_time(count, budget, |n| {
        let chunk = encoder.compress(&sample.chunks[n])?;
        match chunks.get_mut(n) {
            Some(before) => *before = chunk,
            None => chunks.push(chunk),
        }
        Ok(())
    })?;
    let Some(write_seconds) = write_seconds else { return Ok(None) };
    let mut decoder = Decoder::with_threads(threads)?;
    // Written here, so that the first repetition does not wait for pages of memory.
    let mut contents: Vec<Vec<u8>> = vec![Vec::new(); count];
    for (content, chunk) in contents.iter_mut().zip(&sample.chunks) {
        resize(content, chunk.len())?;
        content.fill(1);
    }
    let read_seconds =
        best_time(count, budget, |n| decoder.decompress_into(&chunks[n], &mut contents[n]).map(drop))?;
    let Some(read_seconds) = read_seconds else { return Ok(None) };
    if contents != sample.chunks {
        return Err("the content after decompression differs from the one before".into());
    }
    let cbytes = chunks.iter().map(|chunk| chunk.as_bytes().len() as u64).sum();
    Ok(Some(Row { cell, nbytes: sample.nbytes(), cbytes, write_seconds, read_seconds }))
}

/// Returns the shortest time, in seconds and above 0, in which an operation was done for all of `count` chunks; `None` if the
/// budget ends before the first time.
fn best_time(
    count: usize,
    budget: Budget,
    mut operation: impl FnMut(usize) -> blosc2::Result<()>,
) -> blosc2::Result<Option<f64>> {
    let start = Instant::now();
    let mut best = None;
    let mut repetitions = 0;
    'all: while repetitions < LEAST_REPETITIONS || start.elapsed() < TIME_LIMIT {
        let repetition = Instant::now();
        for n in 0..count {
            if budget.is_over() {
                break 'all;
            }
            operation(n)?;
        }
        let time = repetition.elapsed().max(Duration::from_nanos(1)).as_secs_f64();
        best = Some(best.map_or(time, |best: f64| best.min(time)));
        repetitions += 1;
    }
    Ok(best)
}
