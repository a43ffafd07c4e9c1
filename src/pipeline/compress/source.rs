//! What is compressed: one buffer, the buffers of variable-length blocks, or blocks that somebody puts together.

use crate::chunk::{Blocks, ChunkHeader};
use crate::error::Result;
use std::ops::Range;

/// Puts blocks together when they are wanted, so that nobody has to build the whole chunk first. For pipelines without
/// delta, dictionary or prefilter, which look at more than one block or at the source itself.
pub(crate) trait Gather: Sync {
    /// Bytes in all.
    fn nbytes(&self) -> usize;

    /// Writes the bytes `range`, which are block `nblock`, into `dest`, which is as long. Called from any thread, once or
    /// more for each block.
    ///
    /// # Errors
    /// Whatever keeps the block from being there.
    fn gather(&self, nblock: usize, range: Range<usize>, dest: &mut [u8]) -> Result<()>;

    /// The streams of block `nblock` as another chunk has them, if that is encoded in the way that `header` tells of.
    fn encoded(&self, nblock: usize, header: &ChunkHeader) -> Option<&[u8]>;
}

/// Where the uncompressed blocks come from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// One buffer, cut into equal blocks.
    Buffer(&'a [u8]),
    /// No buffer but a size: a prefilter supplies the data.
    Absent(usize),
    /// One buffer for each block.
    Blocks(&'a [&'a [u8]]),
    /// Equal blocks, each of which is put together when it is wanted.
    Gathered(&'a dyn Gather),
}

impl<'a> Source<'a> {
    /// Bytes in all.
    pub(crate) fn len(&self) -> usize {
        match self {
            Source::Buffer(bytes) => bytes.len(),
            Source::Absent(nbytes) => *nbytes,
            Source::Blocks(blocks) => blocks.iter().map(|b| b.len()).sum(),
            Source::Gathered(gather) => gather.nbytes(),
        }
    }

    /// Number of blocks.
    pub(crate) fn nblocks(&self, blocks: &Blocks) -> usize {
        match self {
            Source::Blocks(sources) => sources.len(),
            Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => blocks.count(),
        }
    }

    /// Size of the largest block, in bytes.
    pub(crate) fn largest_block(&self, blocks: &Blocks) -> usize {
        match self {
            Source::Blocks(sources) => sources.iter().map(|b| b.len()).max().unwrap_or(0),
            Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => {
                blocks.blocksize().min(blocks.nbytes())
            }
        }
    }

    /// Where block `nblock` lies in the chunk's data as filters see it: variable-length blocks stand alone, each
    /// at offset 0.
    pub(crate) fn range(&self, blocks: &Blocks, nblock: usize) -> Range<usize> {
        match self {
            Source::Blocks(sources) => 0..sources[nblock].len(),
            Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => blocks.range(nblock),
        }
    }

    /// The bytes of block `nblock`; `None` when there is no buffer.
    pub(crate) fn block(&self, blocks: &Blocks, nblock: usize) -> Option<&'a [u8]> {
        match self {
            Source::Buffer(bytes) => Some(&bytes[blocks.range(nblock)]),
            Source::Absent(_) | Source::Gathered(_) => None,
            Source::Blocks(sources) => Some(sources[nblock]),
        }
    }

    /// The address that a caller's codec is told: the start of the one buffer, or NULL.
    pub(crate) fn address(&self) -> *const u8 {
        match self {
            Source::Buffer(bytes) => bytes.as_ptr(),
            Source::Absent(_) | Source::Blocks(_) | Source::Gathered(_) => std::ptr::null(),
        }
    }
}
