//! The sample of a chunk, its filtered forms, and their sizes by real encoders.

use super::super::compress::{self, ContentSource};
use super::super::params::CompressParams;
use super::chains::FilterChain;
use crate::filter::{bitshuffle, shuffle};

/// Length in bytes of the longest sample.
pub(super) const MAX_SAMPLE_LEN: usize = 32 << 10;
/// The number of pieces of a sample, at equal distances in the chunk.
const PIECES: usize = 4;
/// Pieces of a chunk, one after the other.
pub(super) struct ChunkSample {
    typesize: usize,
    bytes: Vec<u8>,
    /// Memory for a compressed sample.
    compressed: Vec<u8>,
}

impl ChunkSample {
    /// Takes a sample of `content`, in whole items of `typesize` bytes (at least 1).
    pub(super) fn new(content: &[u8], typesize: usize) -> ChunkSample {
        let mut sample = ChunkSample { typesize, bytes: Vec::new(), compressed: Vec::new() };
        // Whole groups of 8 items, because bitshuffle leaves others as they are.
        let group = 8 * typesize;
        let piece_len =
            (content.len().min(MAX_SAMPLE_LEN) / PIECES / group * group).max(group).min(content.len());
        let last = content.len() - piece_len;
        for npiece in 0..PIECES {
            let start = last / (PIECES - 1) * npiece / typesize * typesize;
            let piece = &content[start..start + piece_len];
            sample.bytes.extend_from_slice(piece);
            if piece_len == content.len() {
                break;
            }
        }
        sample
    }

    /// Writes the sample into `dest` as the filters of `chain` encode it.
    pub(super) fn filter_into(&self, chain: FilterChain, dest: &mut Vec<u8>) {
        let source = &self.bytes;
        dest.resize(source.len(), 0);
        match chain {
            FilterChain::Shuffle => shuffle::shuffle(self.typesize, source, dest),
            FilterChain::Bitshuffle => bitshuffle::bitshuffle(self.typesize, source, dest),
            _ => dest.copy_from_slice(source),
        }
    }

    /// Returns the natural logarithm of the compressed size of the sample, as one block, divided by its size: 0 if the codec
    /// fails.
    pub(super) fn log_size(&mut self, chain: FilterChain, compcode: u8, clevel: u8) -> f32 {
        let source = &self.bytes;
        let compressed = &mut self.compressed;
        compressed.resize(source.len() + 64, 0);
        let params = CompressParams {
            compcode: i32::from(compcode),
            clevel: i32::from(clevel),
            typesize: self.typesize as i32,
            blocksize: source.len() as i32,
            filters: chain.filters(),
            ..CompressParams::default()
        };
        let header = compress::compress(&params, ContentSource::Buffer(source), compressed);
        let nbytes = source.len() as f32;
        header.map_or(0.0, |header| (header.cbytes as f32 / nbytes).min(1.0).ln())
    }
}
