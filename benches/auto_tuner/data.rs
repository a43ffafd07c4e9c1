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
    /// Draws set `index` of the run `seed`: two chunks with parameters of their own.
    pub fn draw(seed: u64, index: u64) -> DataSet {
        DataSet::draw_pieces(seed, index, CHUNK_LEN, 2)
    }

    /// Draws set `index` of the run `seed`: `count` successive chunks of one series.
    pub fn draw_series(seed: u64, index: u64, count: usize) -> DataSet {
        let mut set = DataSet::draw_pieces(seed, index, count * CHUNK_LEN, 1);
        let chunk_len = CHUNK_LEN / set.typesize * set.typesize;
        set.chunks = set.chunks[0].chunks_exact(chunk_len).take(count).map(<[u8]>::to_vec).collect();
        set
    }

    fn draw_pieces(seed: u64, index: u64, nbytes: usize, count: usize) -> DataSet {
        let mut cell = Cell::draw(seed, index, &DrawRanges::default());
        let typesize = cell.params.typesize as usize;
        cell.nbytes = nbytes / typesize * typesize;
        DataSet { family: cell.family, typesize, chunks: cell.data_sets(count) }
    }
}
