//! The combinations that are measured.

use crate::args::{BenchArguments, with_default_blocksize};
use crate::error::Failure;
use blosc2::{Codec, Filter, Params};
use std::fmt;

/// A combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub codec: Codec,
    pub level: u8,
    pub filter: Option<Filter>,
    /// Size of an item in bytes.
    pub typesize: usize,
}

impl Cell {
    /// Returns the parameters of compression.
    pub(super) fn params(self, threads: usize) -> Params {
        let params = Params::new().codec(self.codec).level(self.level).filters(self.filter);
        with_default_blocksize(params.typesize(self.typesize).threads(threads))
    }

    /// Returns the name of the filter, or `none`.
    pub(super) fn filter_name(self) -> String {
        self.filter.map_or_else(|| "none".to_owned(), |filter| filter.to_string())
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (filter, typesize) = (self.filter_name(), self.typesize);
        write!(f, "{}, level {}, filter {filter}, item size {typesize}", self.codec, self.level)
    }
}

/// Returns the combinations, in the order of levels: if the time ends, each codec has been measured. A shuffle of single bytes is none.
///
/// # Errors
/// Codecs and filters that change the content: the measurement compares it.
pub(super) fn cells(arguments: &BenchArguments, typesize: usize) -> Result<Vec<Cell>, Failure> {
    if let Some(codec) = arguments.codecs.iter().find(|codec| !is_lossless(**codec)) {
        return Err(Failure::usage(format!("codec {codec}, expected one that keeps any content")));
    }
    let filters: Vec<Option<Filter>> = arguments.filters.iter().map(|filter| filter.0).collect();
    if let Some(filter) = filters.iter().flatten().find(|filter| !keeps_content(**filter)) {
        return Err(Failure::usage(format!("filter {filter}, expected one that keeps any content")));
    }
    let mut cells = Vec::new();
    for &level in &arguments.levels {
        for &codec in &arguments.codecs {
            let useful = filters.iter().filter(|&&filter| filter != Some(Filter::Shuffle) || typesize > 1);
            cells.extend(useful.map(|&filter| Cell { codec, level, filter, typesize }));
        }
    }
    if cells.is_empty() {
        return Err(Failure::usage("the filter shuffle with items of 1 byte, expected a larger item size"));
    }
    Ok(cells)
}

fn is_lossless(codec: Codec) -> bool {
    matches!(codec, Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Zlib | Codec::Zstd)
}

fn keeps_content(filter: Filter) -> bool {
    matches!(filter, Filter::Shuffle | Filter::Bitshuffle | Filter::Delta | Filter::ByteDelta)
}
