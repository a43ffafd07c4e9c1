//! Sizes and times of the calls of one cell with each setting of each constant.
//!
//! Successive calls take different data, so that nothing that the library keeps from one call to the next is useful by
//! chance. Batches with a setting and with the default alternate. Times are processor time of the thread: other processes
//! hardly change them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use blosc2::internals::tuning::{self, ROWS, Setting, Steps};

use crate::calls::dparams;
use crate::cell::Cell;
use crate::linked::Context;
use crate::options::Options;
use crate::report::{Effect, Key, Report, Sample};

/// The least duration of a timed batch.
const MIN_BATCH: Duration = Duration::from_micros(300);
/// The number of pairs of batches that run even if the time budget is used up.
const MIN_ROUNDS: usize = 3;
/// The duration after which no further pair begins.
const BUDGET: Duration = Duration::from_millis(120);

/// The call that is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Compress,
    Decompress,
}

/// The calls of one cell at one level.
pub struct CellCalls<'a> {
    options: &'a Options,
    cell: &'a Cell,
    data: &'a [Vec<u8>],
    compressor: Context,
    decompressor: Context,
    /// The chunks with the default settings.
    chunks: Vec<Vec<u8>>,
    out: Vec<u8>,
}

impl<'a> CellCalls<'a> {
    /// Prepares the calls with the default settings.
    pub fn new(options: &'a Options, cell: &'a Cell, data: &'a [Vec<u8>]) -> CellCalls<'a> {
        options.reset();
        let compressor = Context::for_compression(cell.params.cparams());
        let decompressor = Context::for_decompression(dparams(1));
        let out = vec![0; cell.nbytes + 32];
        let mut calls = CellCalls { options, cell, data, compressor, decompressor, chunks: Vec::new(), out };
        calls.chunks = calls.compress_all();
        calls
    }

    /// Returns the chunks with the current settings.
    fn compress_all(&mut self) -> Vec<Vec<u8>> {
        let chunk = |data: &Vec<u8>| {
            let cbytes = self.compressor.compress(data, &mut self.out);
            assert!(cbytes > 0, "{}: compression gives {cbytes}", self.cell);
            self.out[..cbytes as usize].to_vec()
        };
        self.data.iter().map(chunk).collect()
    }

    /// Checks that a chunk with the current settings decompresses as the first one does, and returns the sum of the
    /// lengths of `chunks`.
    fn check(&mut self, chunks: &[Vec<u8>], name: &str) -> usize {
        let mut expected = vec![0; self.cell.nbytes];
        for (chunk, original) in chunks.iter().zip(&self.chunks) {
            self.decompressor.decompress(original, &mut expected);
            let nbytes = self.decompressor.decompress(chunk, &mut self.out);
            assert!(
                nbytes as usize == self.cell.nbytes && self.out[..self.cell.nbytes] == expected,
                "{}: {name}: other data, result {nbytes}",
                self.cell
            );
        }
        chunks.iter().map(Vec::len).sum()
    }

    /// Measures `call` with each setting of each of `rows` that the call reads.
    pub fn measure(mut self, call: Call, rows: &[usize], report: &mut Report) {
        if rows.is_empty() {
            return;
        }
        self.options.reset();
        self.call(call, 1);
        let mut settings = Vec::new();
        for &row in rows {
            let default = tuning::read_default(row);
            let key = Key { row, call, codec: self.cell.codec, clevel: self.cell.params.clevel };
            report.add_cell(key, self.cell.family, default);
            let Some(default) = default else { continue };
            let variants: &[Setting] = match ROWS[row].steps {
                Steps::Switch => &[Setting::Off],
                _ => &[Setting::Half, Setting::Double],
            };
            settings.extend(variants.iter().map(|&setting| (row, default, setting)));
        }
        if settings.is_empty() {
            return;
        }
        let default_len: usize = self.chunks.iter().map(Vec::len).sum();
        let mut outputs = Vec::new();
        for &(row, default, setting) in &settings {
            tuning::set(row, default, setting);
            let chunks = match call {
                Call::Compress => self.compress_all(),
                Call::Decompress => self.chunks.clone(),
            };
            let len = self.check(&chunks, ROWS[row].name);
            tuning::set(row, default, Setting::Default);
            let read_back = if chunks == self.chunks { 1.0 } else { self.read_back_speed(chunks) };
            outputs.push((len as f64 / default_len as f64, read_back));
        }
        let passes = self.passes(call);
        for (&(row, default, setting), (size, read_back)) in settings.iter().zip(outputs) {
            let key = Key { row, call, codec: self.cell.codec, clevel: self.cell.params.clevel };
            let speed = self.speed(call, (row, default, setting), passes);
            let effect = Effect { speed, size, read_back };
            report.add_sample(key, Sample { setting, family: self.cell.family, effect });
        }
    }

    /// Returns how many times as fast `chunks` are decompressed as the chunks with the default settings.
    fn read_back_speed(&mut self, mut chunks: Vec<Vec<u8>>) -> f64 {
        let passes = self.passes(Call::Decompress);
        let mut ratios = Vec::new();
        for _ in 0..self.options.rounds {
            let mut seconds = [0.0; 2];
            for seconds in &mut seconds {
                *seconds = self.call(Call::Decompress, passes);
                std::mem::swap(&mut self.chunks, &mut chunks);
            }
            ratios.push(seconds[0] / seconds[1]);
        }
        median(ratios)
    }

    /// Returns the number of passes of a batch.
    fn passes(&mut self, call: Call) -> usize {
        let once = self.call(call, 1);
        (MIN_BATCH.as_secs_f64() / once.max(1e-9)).ceil().clamp(1.0, 1e4) as usize
    }

    /// Returns how many times as fast the calls are with `setting` as with the default: the median of pairs of batches.
    /// The two batches of a pair follow each other, so that both run at the same frequency of the processor and with the
    /// same load of its other threads.
    fn speed(&mut self, call: Call, (row, default, setting): (usize, u64, Setting), passes: usize) -> f64 {
        let mut ratios = Vec::new();
        let start = Instant::now();
        for round in 0..self.options.rounds {
            if round >= MIN_ROUNDS && start.elapsed() > BUDGET {
                break;
            }
            let mut seconds = [0.0; 2];
            for varied in [round % 2 == 0, round % 2 != 0] {
                tuning::set(row, default, if varied { setting } else { Setting::Default });
                seconds[usize::from(varied)] = self.call(call, passes);
            }
            ratios.push(seconds[0] / seconds[1]);
        }
        tuning::set(row, default, Setting::Default);
        median(ratios)
    }

    /// Calls the library `passes` times with each piece of data in turn. Returns the seconds.
    fn call(&mut self, call: Call, passes: usize) -> f64 {
        let start = thread_seconds();
        for _ in 0..passes {
            match call {
                Call::Compress => self.data.iter().for_each(|data| {
                    black_box(self.compressor.compress(data, &mut self.out));
                }),
                Call::Decompress => self.chunks.iter().for_each(|chunk| {
                    black_box(self.decompressor.decompress(chunk, &mut self.out));
                }),
            }
        }
        thread_seconds() - start
    }
}

/// Returns the processor time of the thread in seconds.
fn thread_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: Linux has this clock, and `now` is a valid out-pointer.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) }, 0, "a clock");
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { (values[middle - 1] + values[middle]) / 2.0 } else { values[middle] }
}
