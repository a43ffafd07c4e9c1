//! Tables of measured sizes and times, as [`crate::measure`] writes them.

use std::collections::BTreeMap;
use std::fs;

/// A measured combination of parameters.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Natural logarithm of the compressed size divided by the size.
    pub size: f64,
    /// Natural logarithms of the nanoseconds per byte.
    pub compress_time: f64,
    pub decompress_time: f64,
}

/// Pipeline, codec id and level.
pub type Setting = (usize, u8, u8);

/// The measured combinations of each data set (seed, index and number of the chunk).
pub type Table = BTreeMap<(u64, u64, usize), BTreeMap<Setting, Cost>>;

/// Reads tables.
///
/// # Panics
/// If a file is no table.
pub fn read(paths: &[String]) -> Table {
    let mut table = Table::new();
    for path in paths {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        for line in text.lines() {
            let words: Vec<f64> = line.split('\t').map(|word| word.parse().expect("a number")).collect();
            let &[seed, index, nchunk, chain, codec, clevel, nbytes, cbytes, compress_time, decompress_time] =
                &words[..]
            else {
                panic!("{path}: a line of {} numbers, expected 10", words.len());
            };
            let per_byte = |seconds: f64| (seconds.max(1e-7) * 1e9 / nbytes).ln();
            let cost = Cost {
                size: (cbytes / nbytes).min(1.0).ln(),
                compress_time: per_byte(compress_time),
                decompress_time: per_byte(decompress_time),
            };
            let setting = (chain as usize, codec as u8, clevel as u8);
            table.entry((seed as u64, index as u64, nchunk as usize)).or_default().insert(setting, cost);
        }
    }
    table
}
