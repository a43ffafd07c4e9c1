//! Sizes and times of all codecs, levels and filter pipelines.
//!
//! Calls alternate between two chunks of a data set, so that no call sees the content of the call before. Times are processor
//! time of the thread: other processes change them less.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;

use blosc2::internals::auto_tuner::FilterChain;

use crate::calls::{Params, dparams};
use crate::cell::CODECS;
use crate::data::DataSet;
use crate::fit::SETTINGS;
use crate::linked::Context;

/// The number of passes over all parameters. Each takes the least times, and they are far apart in time, because the machine may
/// be slow for some time.
const PASSES: usize = 6;
/// Calls that take longer, in seconds, are measured in the first pass only, or in the first two.
const MAX_REPEATED: f64 = 0.006;
const MAX_REPEATED_ONCE: f64 = 0.04;

/// A row of the table.
pub struct Row {
    /// The number of the chunk in its set.
    pub nchunk: usize,
    pub chain: usize,
    pub codec: u8,
    pub clevel: u8,
    pub cbytes: usize,
    /// Seconds for a chunk.
    pub compress_time: f64,
    pub decompress_time: f64,
}

impl Row {
    /// Returns whether pass number `pass` measures these parameters again.
    fn is_measured_in(&self, pass: usize) -> bool {
        let least = self.compress_time + self.decompress_time;
        pass == 0 || least < MAX_REPEATED || pass == 1 && least < MAX_REPEATED_ONCE
    }

    /// Compresses and decompresses the chunk.
    fn measure(&mut self, set: &DataSet, chains: &[FilterChain], out: &mut [u8], content: &mut [u8]) {
        let &mut Row { nchunk, chain, codec, clevel, .. } = self;
        let (typesize, filters) = (set.typesize as i32, chains[chain].filters());
        let params = Params { codec, clevel, typesize, filters, ..Params::default() };
        let mut compressor = Context::for_compression(params.cparams());
        let mut decompressor = Context::for_decompression(dparams(1));
        let chunk = &set.chunks[nchunk];
        let start = thread_seconds();
        let cbytes = compressor.compress(chunk, out);
        let middle = thread_seconds();
        let nbytes = decompressor.decompress(&out[..cbytes as usize], content);
        let end = thread_seconds();
        assert!(cbytes > 0 && nbytes as usize == chunk.len(), "{cbytes} bytes decompress to {nbytes}");
        self.compress_time = self.compress_time.min(middle - start);
        self.decompress_time = self.decompress_time.min(end - middle);
        self.cbytes = cbytes as usize;
    }
}

/// Measures the codecs and levels `settings` with `chains` for a data set.
pub fn measure(set: &DataSet, chains: &[FilterChain], settings: &[(u8, u8)]) -> Vec<Row> {
    let nbytes = set.chunks[0].len();
    let (mut out, mut content) = (vec![0; nbytes + 32], vec![0; nbytes]);
    let mut rows = Vec::new();
    for chain in (0..chains.len()).filter(|&chain| chains[chain].is_useful(set.typesize, nbytes)) {
        for &(codec, clevel) in settings {
            for nchunk in 0..set.chunks.len() {
                let [compress_time, decompress_time] = [f64::INFINITY; 2];
                rows.push(Row { nchunk, chain, codec, clevel, cbytes: 0, compress_time, decompress_time });
            }
        }
    }
    for pass in 0..PASSES {
        for row in rows.iter_mut().filter(|row| row.is_measured_in(pass)) {
            row.measure(set, chains, &mut out, &mut content);
        }
    }
    rows
}

/// Measures drawn sets and writes a line for each row: for the tuner's own candidates, or for all codecs, levels and pipelines.
pub fn run(seed: u64, sets: Range<u64>, is_exhaustive: bool, out: &str) {
    let all = || CODECS.iter().flat_map(|&(codec, _)| (1..=9).map(move |clevel| (codec, clevel))).collect();
    let (chains, settings): (&[FilterChain], Vec<_>) =
        if is_exhaustive { (&FilterChain::ALL, all()) } else { (&FilterChain::CHOICES, SETTINGS.to_vec()) };
    let mut file = BufWriter::new(File::create(out).expect("a file for the table"));
    let count = sets.end;
    for index in sets {
        let set = DataSet::new(seed, index);
        for row in measure(&set, chains, &settings) {
            let Row { nchunk, chain, codec, clevel, cbytes, compress_time, decompress_time } = row;
            writeln!(
                file,
                "{seed}\t{index}\t{nchunk}\t{chain}\t{codec}\t{clevel}\t{}\t{cbytes}\t{compress_time:.7}\t{decompress_time:.7}",
                set.chunks[0].len()
            )
            .expect("a table that can be written");
        }
        file.flush().expect("a table that can be written");
        eprint!("\r{}/{count} ", index + 1);
    }
    eprintln!();
}

/// Returns the processor time of the thread in seconds.
pub fn thread_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: Linux has this clock, and `now` is a valid out-pointer.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) }, 0, "a clock");
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
