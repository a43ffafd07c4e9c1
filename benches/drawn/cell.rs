//! One cell: the parameters of a chunk and the source of its data, all drawn from a seed and an index.

use std::fmt;

use crate::calls::Params;
use crate::families::{self, Family};
use crate::files;
use crate::support::random::Random;

/// Codec ids with their names.
pub const CODECS: [(u8, &str); 5] = [(0, "blosclz"), (1, "lz4"), (2, "lz4hc"), (4, "zlib"), (5, "zstd")];

/// Filter pipelines: relative frequency, filters, meta bytes, name.
const FILTERS: [(usize, [u8; 6], [u8; 6], &str); 9] = [
    (35, [0, 0, 0, 0, 0, 1], [0; 6], "shuffle"),
    (20, [0, 0, 0, 0, 0, 2], [0; 6], "bitshuffle"),
    (18, [0; 6], [0; 6], "none"),
    (8, [0, 0, 0, 0, DELTA, 1], [0; 6], "delta+shuffle"),
    (4, [0, 0, 0, 0, DELTA, 2], [0; 6], "delta+bitshuffle"),
    (3, [0, 0, 0, 0, 0, DELTA], [0; 6], "delta"),
    (5, [0, 0, 0, 0, 1, BYTEDELTA], [0; 6], "shuffle+bytedelta"),
    (4, [0, 0, 0, 0, TRUNC_PREC, 1], [0, 0, 0, 0, 10, 0], "trunc_prec+shuffle"),
    (3, [0, 0, 0, 0, TRUNC_PREC, 2], [0, 0, 0, 0, 14, 0], "trunc_prec+bitshuffle"),
];

const DELTA: u8 = 3;
const TRUNC_PREC: u8 = 4;
const BYTEDELTA: u8 = 35;

/// The length in bytes of the shortest chunk that is drawn.
const MIN_CHUNK_LEN: usize = 4 << 10;
/// The largest item size that is drawn, in bytes.
const MAX_TYPESIZE: usize = 24;

/// The ranges that cells are drawn from.
pub struct DrawRanges {
    pub codecs: Vec<(u8, &'static str)>,
    /// The length in bytes of the longest chunk.
    pub max_chunk_len: usize,
}

impl Default for DrawRanges {
    fn default() -> DrawRanges {
        DrawRanges { codecs: CODECS.to_vec(), max_chunk_len: 4 << 20 }
    }
}

/// The source of the data of a cell.
#[derive(Clone)]
pub enum Source {
    /// A family of number series, and the generator of its parameters and values.
    Family(Family, Random),
    /// A part of a file; the generator chooses both.
    File(Random),
    /// The bytes of a named cell.
    Bytes(Vec<u8>),
}

/// A chunk to measure.
pub struct Cell {
    /// `SEED:INDEX`, or a name.
    pub name: String,
    pub codec: &'static str,
    pub params: Params,
    pub filters: &'static str,
    /// The family of the data, or `file`, or `named`.
    pub family: &'static str,
    /// Length of the data in bytes.
    pub nbytes: usize,
    source: Source,
}

impl Cell {
    /// Draws cell `index` of the run `seed`.
    pub fn draw(seed: u64, index: u64, draw: &DrawRanges) -> Cell {
        let mut random = Random::of_item(seed, index);
        let (codec, codec_name) = *random.pick(&draw.codecs);
        let clevel = 1 + random.below(9) as u8;
        let source = match random.below(10) {
            0 => Source::File(random.clone()),
            _ => Source::Family(families::draw_family(&mut random), random.clone()),
        };
        let typesize = match random.below(10) {
            0..=6 => *random.pick(&[1, 2, 4, 4, 8, 8]),
            _ => 1 + random.below(MAX_TYPESIZE),
        };
        let (filters, mut filters_meta, filter_name) = draw_filters(&mut random, typesize);
        // Without a super-chunk bytedelta reads the item size from its meta byte.
        if filters[5] == BYTEDELTA {
            filters_meta[5] = typesize as u8;
        }
        // The length is log-uniform: each doubling is drawn equally often.
        let doublings = (draw.max_chunk_len as f64 / MIN_CHUNK_LEN as f64).log2();
        let exact = MIN_CHUNK_LEN as f64 * (doublings * draw_unit(&mut random)).exp2();
        let has_rest = random.one_in(8);
        // The reference loses the bytes behind the last item with these filters.
        let loses_rest = filters.iter().any(|filter| [DELTA, TRUNC_PREC].contains(filter));
        let rest = if has_rest && !loses_rest { random.below(typesize) } else { 0 };
        let nbytes = exact as usize / typesize * typesize + rest;
        let nthreads = if random.one_in(4) { 2 } else { 1 };
        let family = match &source {
            Source::Family(family, _) => family.name,
            _ => "file",
        };
        let params = Params {
            codec,
            clevel,
            typesize: typesize as i32,
            nthreads,
            filters,
            filters_meta,
            ..Params::default()
        };
        Cell {
            name: format!("{seed}:{index}"),
            codec: codec_name,
            params,
            filters: filter_name,
            family,
            nbytes,
            source,
        }
    }

    /// Returns a named cell with the given data.
    pub fn named(
        name: &str,
        codec: &str,
        clevel: u8,
        filters: &str,
        typesize: usize,
        bytes: Vec<u8>,
    ) -> Cell {
        let &(codec, codec_name) = CODECS.iter().find(|known| known.1 == codec).expect("a codec");
        let &(_, filters, filters_meta, filter_name) =
            FILTERS.iter().find(|known| known.3 == filters).expect("a filter pipeline");
        let params =
            Params { codec, clevel, typesize: typesize as i32, filters, filters_meta, ..Params::default() };
        Cell {
            name: name.to_string(),
            codec: codec_name,
            params,
            filters: filter_name,
            family: "named",
            nbytes: bytes.len(),
            source: Source::Bytes(bytes),
        }
    }

    /// Returns `count` pieces of data of `self.nbytes` bytes, drawn from the same family, or from the files. The first
    /// is the same for each `count`. Those of a named cell are all the same.
    pub fn data_sets(&self, count: usize) -> Vec<Vec<u8>> {
        let mut source = self.source.clone();
        let next = |_| match &mut source {
            Source::Family(family, random) => {
                families::generate(*family, random, self.params.typesize as usize, self.nbytes)
            }
            Source::File(random) => files::piece(random, self.nbytes),
            Source::Bytes(bytes) => bytes.clone(),
        };
        (0..count).map(next).collect()
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Params { clevel, typesize, nthreads, .. } = self.params;
        write!(
            out,
            "{} {} {clevel} {} {} x{typesize} {} B {nthreads}T",
            self.name, self.codec, self.filters, self.family, self.nbytes
        )
    }
}

/// Draws a filter pipeline that supports items of `typesize` bytes: filters, meta bytes and name.
fn draw_filters(random: &mut Random, typesize: usize) -> ([u8; 6], [u8; 6], &'static str) {
    let total: usize = FILTERS.iter().map(|entry| entry.0).sum();
    loop {
        let mut drawn = random.below(total);
        let entry = FILTERS.iter().find(|entry| {
            let is_it = drawn < entry.0;
            drawn = drawn.wrapping_sub(entry.0);
            is_it
        });
        let &(_, filters, filters_meta, name) = entry.expect("drawn below the sum");
        // Truncated precision is for floating-point numbers.
        if !name.starts_with("trunc") || matches!(typesize, 4 | 8) {
            return (filters, filters_meta, name);
        }
    }
}

/// Draws a number in [0, 1).
pub fn draw_unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}
