//! What is compressed: one buffer, or the buffers of variable-length blocks.

use crate::chunk::Blocks;
use std::ops::Range;

/// Where the uncompressed blocks come from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// One buffer, cut into equal blocks.
    Buffer(&'a [u8]),
    /// No buffer but a size: a prefilter supplies the data.
    Absent(usize),
    /// One buffer for each block.
    Blocks(&'a [&'a [u8]]),
}

impl<'a> Source<'a> {
    /// Bytes in all.
    pub fn len(&self) -> usize {
        match self {
            Source::Buffer(bytes) => bytes.len(),
            Source::Absent(nbytes) => *nbytes,
            Source::Blocks(blocks) => blocks.iter().map(|b| b.len()).sum(),
        }
    }

    /// Whether there is nothing to compress.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of blocks.
    pub fn nblocks(&self, blocks: &Blocks) -> usize {
        match self {
            Source::Blocks(sources) => sources.len(),
            Source::Buffer(_) | Source::Absent(_) => blocks.count(),
        }
    }

    /// Size of the largest block, in bytes.
    pub fn largest_block(&self, blocks: &Blocks) -> usize {
        match self {
            Source::Blocks(sources) => sources.iter().map(|b| b.len()).max().unwrap_or(0),
            Source::Buffer(_) | Source::Absent(_) => blocks.blocksize().min(blocks.nbytes()),
        }
    }

    /// Where block `nblock` lies in the chunk's data as filters see it: variable-length blocks stand alone, each
    /// at offset 0.
    pub fn range(&self, blocks: &Blocks, nblock: usize) -> Range<usize> {
        match self {
            Source::Blocks(sources) => 0..sources[nblock].len(),
            Source::Buffer(_) | Source::Absent(_) => blocks.range(nblock),
        }
    }

    /// The bytes of block `nblock`; `None` when there is no buffer.
    pub fn block(&self, blocks: &Blocks, nblock: usize) -> Option<&'a [u8]> {
        match self {
            Source::Buffer(bytes) => Some(&bytes[blocks.range(nblock)]),
            Source::Absent(_) => None,
            Source::Blocks(sources) => Some(sources[nblock]),
        }
    }

    /// The address that a caller's codec is told: the start of the one buffer, or NULL.
    pub fn address(&self) -> *const u8 {
        match self {
            Source::Buffer(bytes) => bytes.as_ptr(),
            Source::Absent(_) | Source::Blocks(_) => std::ptr::null(),
        }
    }
}
