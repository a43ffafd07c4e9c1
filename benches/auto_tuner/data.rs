//! The data sets: chunks of drawn families and pieces of files.

use crate::cell::{Cell, DrawRanges};

/// Length in bytes of a chunk; whole items.
const CHUNK_LEN: usize = 1 << 20;

/// Chunks of one source.
pub struct DataSet {
    pub family: &'static str,
    pub typesize: usize,
    pub chunks: Vec<Vec<u8>>,
}

impl DataSet {
    /// Draws set `index` of the run `seed`, with two chunks.
    pub fn draw(seed: u64, index: u64) -> DataSet {
        DataSet::draw_chunks(seed, index, 2)
    }

    /// Draws set `index` of the run `seed`, with `count` chunks.
    pub fn draw_chunks(seed: u64, index: u64, count: usize) -> DataSet {
        let mut cell = Cell::draw(seed, index, &DrawRanges::default());
        let typesize = cell.params.typesize as usize;
        cell.nbytes = CHUNK_LEN / typesize * typesize;
        DataSet { family: cell.family, typesize, chunks: cell.data_sets(count) }
    }
}
