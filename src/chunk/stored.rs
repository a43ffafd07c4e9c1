//! A chunk as a reader gets it.

use super::ChunkHeader;
use super::lazy::{BlockSource, LazyChunk, Trailer};
use crate::err;
use crate::error::Result;

/// A chunk with its parsed header: in memory, or lazy with the frame that its blocks are read from.
///
/// The bytes may be fewer than the header says: readers check.
#[derive(Clone, Copy)]
pub(crate) struct StoredChunk<'a> {
    header: &'a ChunkHeader,
    bytes: &'a [u8],
    residence: Residence<'a>,
}

/// Where the blocks of a chunk are.
#[derive(Clone, Copy)]
enum Residence<'a> {
    /// In the bytes; a serialised lazy chunk cannot be read then.
    Memory,
    /// In the bytes, or in this frame for a serialised lazy chunk.
    Serialized(&'a dyn BlockSource),
    /// In a frame that has made the lazy chunk.
    Frame(Trailer<'a>, &'a dyn BlockSource),
}

/// Where the blocks of a lazy chunk are read.
#[derive(Clone, Copy)]
pub(crate) struct LazyBlocks<'a> {
    /// Place and lengths of the blocks.
    pub trailer: Trailer<'a>,
    source: &'a dyn BlockSource,
}

impl LazyBlocks<'_> {
    /// Fills `dest` with the bytes that begin `position` bytes into the chunk.
    ///
    /// # Errors
    /// Those of [`BlockSource::read`].
    pub(crate) fn read(&self, position: usize, dest: &mut [u8]) -> Result<()> {
        self.source.read(self.trailer.place, position as u64, dest)
    }
}

impl<'a> StoredChunk<'a> {
    /// A chunk in memory. `header` was parsed from `bytes`.
    #[inline(always)]
    pub(crate) fn new(header: &'a ChunkHeader, bytes: &'a [u8]) -> Self {
        StoredChunk { header, bytes, residence: Residence::Memory }
    }

    /// A chunk that a program hands in; should it be a serialised lazy one, its blocks come from `source`. `header` was parsed
    /// from `bytes`.
    pub(crate) fn with_source(
        header: &'a ChunkHeader,
        bytes: &'a [u8],
        source: Option<&'a dyn BlockSource>,
    ) -> Self {
        StoredChunk { header, bytes, residence: source.map_or(Residence::Memory, Residence::Serialized) }
    }

    /// A lazy chunk that a frame has made, with its blocks in `source`. `header` was parsed from the head of `chunk`.
    pub(crate) fn lazy(header: &'a ChunkHeader, chunk: &'a LazyChunk, source: &'a dyn BlockSource) -> Self {
        let residence = Residence::Frame(chunk.trailer(), source);
        StoredChunk { header, bytes: &chunk.head, residence }
    }

    /// The header of the chunk.
    #[inline(always)]
    pub(crate) fn header(&self) -> &'a ChunkHeader {
        self.header
    }

    /// The bytes of the chunk that are in memory, from the header on.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the blocks are, for a lazy chunk of `nblocks` blocks; `None` for a chunk in memory.
    ///
    /// # Errors
    /// `InvalidParam` for a lazy chunk without a frame, those of [`Trailer::read`].
    pub(crate) fn lazy_blocks(&self, nblocks: usize) -> Result<Option<LazyBlocks<'a>>> {
        if !self.header.is_lazy() {
            return Ok(None);
        }
        let (trailer, source) = match self.residence {
            Residence::Memory => {
                return Err(err!(InvalidParam, "a lazy chunk, and no frame to read it from"));
            }
            Residence::Serialized(source) => (Trailer::read(self.header, self.bytes, nblocks)?, source),
            Residence::Frame(trailer, source) => (trailer, source),
        };
        Ok(Some(LazyBlocks { trailer, source }))
    }
}
