//! The data sets: chunks of drawn families and pieces of files.

use crate::cell::{Cell, DrawRanges};

/// Length in bytes of a chunk; whole items.
const CHUNK_LEN: usize = 1 << 20;

/// Two chunks of one source.
pub struct DataSet {
    pub family: &'static str,
    pub typesize: usize,
    pub chunks: Vec<Vec<u8>>,
}

impl DataSet {
    /// Draws set `index` of the run `seed`.
    pub fn draw(seed: u64, index: u64) -> DataSet {
        let mut cell = Cell::draw(seed, index, &DrawRanges::default());
        let typesize = cell.params.typesize as usize;
        cell.nbytes = CHUNK_LEN / typesize * typesize;
        DataSet { family: cell.family, typesize, chunks: cell.data_sets(2) }
    }
}
