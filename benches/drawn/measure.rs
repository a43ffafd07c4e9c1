//! Chunks and times of both libraries for one cell.

use std::cell::RefCell;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::calls::{OwnedContext, dparams};
use crate::cell::Cell;
use crate::library::Library;

pub struct Libraries {
    pub ours: &'static Library,
    pub reference: &'static Library,
}

/// The number of pieces of data that successive calls take in turn where every call has new data.
const NEW_DATA_SETS: usize = 3;
/// The least duration of a timed batch, and the time after which no further round of a figure begins.
const MIN_BATCH: Duration = Duration::from_micros(200);
const BUDGET: Duration = Duration::from_millis(40);

/// Ratios of the reference to ours: above 1, ours is smaller or faster.
#[derive(Clone, Copy)]
pub struct CellRatios {
    pub size: f64,
    /// Length of our chunk in bytes.
    pub cbytes: usize,
    pub speeds: Option<Speeds>,
}

#[derive(Clone, Copy)]
pub struct Speeds {
    /// Every call has other data than the call before: the speed that a program sees.
    pub compress_new: f64,
    /// The same, of the reference's chunks in both libraries.
    pub decompress_new: f64,
    /// Every call has the same data, as for the next two.
    pub compress: f64,
    /// Both libraries decompress the reference's chunk.
    pub decompress: f64,
    /// Each library decompresses its own chunk.
    pub read_back: f64,
}

impl fmt::Display for CellRatios {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = self.size * self.cbytes as f64;
        write!(out, "{} B against {reference:.0}, size {:.3}", self.cbytes, self.size)?;
        if let Some(Speeds { compress_new, decompress_new, compress, decompress, read_back }) = self.speeds {
            write!(out, ", new data: compress {compress_new:.2}, decompress {decompress_new:.2}")?;
            write!(
                out,
                "; same data: compress {compress:.2}, decompress {decompress:.2}, read back {read_back:.2}"
            )?;
        }
        Ok(())
    }
}

/// The contexts of one library and its chunk.
struct LibraryContexts {
    compressor: OwnedContext<'static>,
    decompressor: OwnedContext<'static>,
    chunk: Vec<u8>,
}

impl LibraryContexts {
    fn new(library: &'static Library, cell: &Cell, data: &[u8]) -> LibraryContexts {
        let mut compressor = OwnedContext::for_compression(library, cell.params.cparams())
            .unwrap_or_else(|| panic!("{}: no context for {cell}", library.name));
        let chunk = compress(&mut compressor, data)
            .unwrap_or_else(|cbytes| panic!("{}: {cell}: compression gives {cbytes}", library.name));
        LibraryContexts {
            compressor,
            decompressor: OwnedContext::for_decompression(library, dparams(cell.params.nthreads)),
            chunk,
        }
    }

    fn compress(&mut self, data: &[u8]) -> Vec<u8> {
        compress(&mut self.compressor, data).expect("a chunk, as of the first data")
    }

    fn compress_all(&mut self, data_sets: &[Vec<u8>], out: &mut [u8]) {
        for data in data_sets {
            black_box(self.compressor.compress(data, out));
        }
    }

    fn decompress_all(&mut self, chunks: &[Vec<u8>], out: &mut [u8]) {
        for chunk in chunks {
            black_box(self.decompressor.decompress(chunk, out));
        }
    }
}

/// Returns the chunk of `data`, or the result of the library if that is an error.
fn compress(compressor: &mut OwnedContext<'_>, data: &[u8]) -> Result<Vec<u8>, i32> {
    let mut chunk = vec![0; data.len() + 32];
    let cbytes = compressor.compress(data, &mut chunk);
    chunk.truncate(usize::try_from(cbytes).unwrap_or_default());
    if chunk.is_empty() { Err(cbytes) } else { Ok(chunk) }
}

/// Measures a cell; its sizes only, if `rounds` is 0. Both libraries decompress both chunks, to the same bytes.
///
/// # Panics
/// If a chunk does not decompress to the data, unless a filter of the cell is lossy.
pub fn measure(libraries: &Libraries, cell: &Cell, rounds: usize) -> CellRatios {
    let data_sets = cell.data_sets(if rounds > 0 { NEW_DATA_SETS } else { 1 });
    let data = &data_sets[0];
    let mut ours = LibraryContexts::new(libraries.ours, cell, data);
    let mut reference = LibraryContexts::new(libraries.reference, cell, data);
    check_decoding(cell, data, &mut ours, &mut reference);
    let size = reference.chunk.len() as f64 / ours.chunk.len() as f64;
    let cbytes = ours.chunk.len();
    let timer = Timer { nthreads: cell.params.nthreads, rounds };
    let speeds = (rounds > 0).then(|| measure_speeds(&data_sets, &mut ours, &mut reference, &timer));
    CellRatios { size, cbytes, speeds }
}

/// Checks that both libraries decode both chunks to the same bytes: to the data, unless a filter is lossy.
fn check_decoding(cell: &Cell, data: &[u8], ours: &mut LibraryContexts, reference: &mut LibraryContexts) {
    let is_lossy = cell.params.filters.contains(&4);
    let mut back = [(); 3].map(|()| vec![0xEE; data.len()]);
    let nbytes = [
        ours.decompressor.decompress(&reference.chunk, &mut back[0]),
        reference.decompressor.decompress(&ours.chunk, &mut back[1]),
        ours.decompressor.decompress(&ours.chunk, &mut back[2]),
    ];
    let expected = if is_lossy { &back[0] } else { data };
    let what = ["the reference's chunk in ours", "our chunk in the reference", "our chunk in ours"];
    for ((what, nbytes), back) in what.iter().zip(nbytes).zip(&back) {
        assert!(
            nbytes as usize == data.len() && back == expected,
            "{cell}: {what}: other data, result {nbytes}"
        );
    }
}

fn measure_speeds(
    data_sets: &[Vec<u8>],
    ours: &mut LibraryContexts,
    reference: &mut LibraryContexts,
    timer: &Timer,
) -> Speeds {
    let data = &data_sets[0];
    // Both libraries write to the same buffer, and read equal chunks from the same buffer: a copy of 1 MB can be 20 %
    // slower depending on the physical pages of the buffers.
    let out = RefCell::new(vec![0; data.len() + 32]);
    let compress_new = timer.ratio(
        || ours.compress_all(data_sets, &mut out.borrow_mut()),
        || reference.compress_all(data_sets, &mut out.borrow_mut()),
    );
    let chunks: Vec<Vec<u8>> = data_sets.iter().map(|data| reference.compress(data)).collect();
    let decompress_new = timer.ratio(
        || ours.decompress_all(&chunks, &mut out.borrow_mut()),
        || reference.decompress_all(&chunks, &mut out.borrow_mut()),
    );
    let compress = timer.ratio(
        || _ = black_box(ours.compressor.compress(data, &mut out.borrow_mut())),
        || _ = black_box(reference.compressor.compress(data, &mut out.borrow_mut())),
    );
    out.borrow_mut().truncate(data.len());
    let theirs = &reference.chunk;
    let own = if ours.chunk == *theirs { theirs } else { &ours.chunk };
    let [decompress, read_back] = [theirs, own].map(|chunk| {
        timer.ratio(
            || _ = black_box(ours.decompressor.decompress(chunk, &mut out.borrow_mut())),
            || _ = black_box(reference.decompressor.decompress(theirs, &mut out.borrow_mut())),
        )
    });
    Speeds { compress_new, decompress_new, compress, decompress, read_back }
}

/// Times two functions in turn.
struct Timer {
    nthreads: i16,
    rounds: usize,
}

impl Timer {
    /// Returns how many times as fast `ours` is as `reference`, by the fastest batch of each.
    fn ratio(&self, mut ours: impl FnMut(), mut reference: impl FnMut()) -> f64 {
        let calls = |once: f64| (MIN_BATCH.as_secs_f64() / once.max(1e-9)).ceil().clamp(1.0, 1e4) as u32;
        let mut best = [f64::INFINITY; 2];
        // Both get the same number of calls: the first call of a batch reads its data from an outer cache level, and so
        // takes longer than the others.
        let mut batch = 1;
        // Not timed: the first call uses memory that no call has used before.
        ours();
        reference();
        let start = Instant::now();
        for round in 0..self.rounds.max(1) + 1 {
            if round >= 2 && start.elapsed() > BUDGET {
                break;
            }
            for turn in [round % 2, (round + 1) % 2] {
                let seconds = match turn {
                    0 => self.time(batch, &mut ours),
                    _ => self.time(batch, &mut reference),
                };
                best[turn] = best[turn].min(seconds);
            }
            // The first round determines the number of calls per batch.
            if round == 0 {
                batch = calls(best[0].min(best[1]));
            }
        }
        best[1] / best[0]
    }

    /// Returns the seconds per call: processor time of the thread for one thread, elapsed time for several.
    fn time(&self, calls: u32, work: &mut impl FnMut()) -> f64 {
        let clock = if self.nthreads > 1 { libc::CLOCK_MONOTONIC } else { libc::CLOCK_THREAD_CPUTIME_ID };
        let start = clock_seconds(clock);
        for _ in 0..calls {
            work();
        }
        (clock_seconds(clock) - start) / f64::from(calls)
    }
}

fn clock_seconds(clock: libc::clockid_t) -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: Linux has this clock, and `now` is a valid out-pointer.
    assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut now) }, 0, "a clock");
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
