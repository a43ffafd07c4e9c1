//! The data to compress: one buffer, the buffers of variable-length blocks, or blocks that are assembled on demand.

use crate::chunk::{BlockGeometry, ChunkHeader};
use crate::error::Result;
use std::ops::Range;

/// Assembles blocks on demand, so that no caller has to build the whole chunk first. For pipelines without delta,
/// dictionary or prefilter, which read more than one block or the source itself.
pub(crate) trait BlockProvider: Sync {
    /// Returns the total size in bytes.
    fn nbytes(&self) -> usize;

    /// Writes the bytes `range`, which are block `nblock`, into `dest`, which has the same length. Called from any
    /// thread, one or more times for each block.
    fn write_block_into(&self, nblock: usize, range: Range<usize>, dest: &mut [u8]) -> Result<()>;

    /// Returns the encoded streams of block `nblock` from another chunk, if they are encoded in the way that `header`
    /// describes.
    fn reusable_encoded_block(&self, nblock: usize, header: &ChunkHeader) -> Option<&[u8]>;
}

/// Where the uncompressed blocks come from.
#[derive(Clone, Copy)]
pub(crate) enum ContentSource<'a> {
    /// One buffer, cut into equal blocks.
    Buffer(&'a [u8]),
    /// No buffer but a size: a prefilter supplies the data.
    SizeOnly(usize),
    /// One buffer for each block.
    VarlenBlocks(&'a [&'a [u8]]),
    /// Blocks of equal size, each of which is assembled on demand.
    Provided(&'a dyn BlockProvider),
}

impl<'a> ContentSource<'a> {
    /// Returns the total size in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            ContentSource::Buffer(bytes) => bytes.len(),
            ContentSource::SizeOnly(nbytes) => *nbytes,
            ContentSource::VarlenBlocks(blocks) => blocks.iter().map(|b| b.len()).sum(),
            ContentSource::Provided(provider) => provider.nbytes(),
        }
    }

    pub(crate) fn nblocks(&self, blocks: &BlockGeometry) -> usize {
        match self {
            ContentSource::VarlenBlocks(sources) => sources.len(),
            ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
                blocks.count()
            }
        }
    }

    /// Size of the largest block, in bytes.
    pub(crate) fn largest_block(&self, blocks: &BlockGeometry) -> usize {
        match self {
            ContentSource::VarlenBlocks(sources) => sources.iter().map(|b| b.len()).max().unwrap_or(0),
            ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
                blocks.blocksize().min(blocks.nbytes())
            }
        }
    }

    /// Returns the range of block `nblock` in the chunk's data, as passed to filters: each variable-length block has a
    /// range of its own that begins at 0.
    pub(crate) fn block_range(&self, blocks: &BlockGeometry, nblock: usize) -> Range<usize> {
        match self {
            ContentSource::VarlenBlocks(sources) => 0..sources[nblock].len(),
            ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
                blocks.range(nblock)
            }
        }
    }

    /// Returns the bytes of block `nblock`; `None` when there is no buffer.
    pub(crate) fn block(&self, blocks: &BlockGeometry, nblock: usize) -> Option<&'a [u8]> {
        match self {
            ContentSource::Buffer(bytes) => Some(&bytes[blocks.range(nblock)]),
            ContentSource::SizeOnly(_) | ContentSource::Provided(_) => None,
            ContentSource::VarlenBlocks(sources) => Some(sources[nblock]),
        }
    }

    /// Returns the address that is passed to a program's codec: the start of the one buffer, or NULL.
    pub(crate) fn callback_address(&self) -> *const u8 {
        match self {
            ContentSource::Buffer(bytes) => bytes.as_ptr(),
            ContentSource::SizeOnly(_) | ContentSource::VarlenBlocks(_) | ContentSource::Provided(_) => {
                std::ptr::null()
            }
        }
    }
}
