//! A chunk with its parsed header and the location of its blocks.

use super::ChunkHeader;
use super::class::ChunkClass;
use super::lazy::{BlockSource, LazyChunk, LazyTrailer};
use crate::err;
use crate::error::Result;
use std::cell::Cell;

/// A chunk with its parsed header: in memory, or lazy with the frame that its blocks are read from.
///
/// The bytes may be fewer than the header says: see [`check_len`](Self::check_len).
pub(crate) struct ParsedChunk<'a> {
    header: &'a ChunkHeader,
    bytes: &'a [u8],
    /// The class, once it is determined.
    class: Cell<Option<ChunkClass>>,
    block_location: BlockLocation<'a>,
}

#[derive(Clone, Copy)]
enum BlockLocation<'a> {
    /// In the bytes. A serialised lazy chunk is an error: it has no source.
    Memory,
    /// In the bytes, or in this frame for a serialised lazy chunk.
    Serialized(&'a dyn BlockSource),
    /// In a frame, which has made the lazy chunk.
    Frame(LazyTrailer<'a>, &'a dyn BlockSource),
}

#[derive(Clone, Copy)]
pub(crate) struct LazyBlocks<'a> {
    /// Location of the chunk in its frame, and lengths of its blocks.
    pub trailer: LazyTrailer<'a>,
    source: &'a dyn BlockSource,
}

impl LazyBlocks<'_> {
    /// Fills `dest` with the bytes that begin `position` bytes into the chunk.
    pub(crate) fn read(&self, position: usize, dest: &mut [u8]) -> Result<()> {
        self.source.read(self.trailer.location, position as u64, dest)
    }
}

impl<'a> ParsedChunk<'a> {
    /// Parses the header of the chunk in `bytes` into `header`, which the result borrows: moving the header would cost
    /// too much for small chunks.
    #[inline(always)]
    pub(crate) fn parse(header: &'a mut ChunkHeader, bytes: &'a [u8]) -> Result<Self> {
        header.read(bytes)?;
        Ok(ParsedChunk { header, bytes, class: Cell::new(None), block_location: BlockLocation::Memory })
    }

    /// Returns a chunk passed in by the program. If it is lazy, its blocks are read from `source`.
    pub(crate) fn with_source(&self, source: Option<&'a dyn BlockSource>) -> Self {
        ParsedChunk {
            header: self.header,
            bytes: self.bytes,
            class: self.class.clone(),
            block_location: source.map_or(BlockLocation::Memory, BlockLocation::Serialized),
        }
    }

    /// Returns a lazy chunk that a frame has made, with its blocks in `source`.
    pub(crate) fn lazy(chunk: &'a LazyChunk, source: &'a dyn BlockSource) -> Self {
        let residence = BlockLocation::Frame(chunk.trailer(), source);
        ParsedChunk {
            header: chunk.header(),
            bytes: chunk.head(),
            class: Cell::new(None),
            block_location: residence,
        }
    }

    #[inline(always)]
    pub(crate) fn header(&self) -> &'a ChunkHeader {
        self.header
    }

    /// Returns the bytes of the chunk that are in memory, from the header on.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the class of the chunk, which is determined once.
    #[inline]
    pub(crate) fn class(&self) -> Result<ChunkClass> {
        if let Some(class) = self.class.get() {
            return Ok(class);
        }
        let class = ChunkClass::of(self.header)?;
        self.class.set(Some(class));
        Ok(class)
    }

    /// Checks that the bytes of a chunk that is not lazy are as many as its header says.
    #[inline(always)]
    pub(crate) fn check_len(&self) -> Result<()> {
        let (cbytes, len) = (self.header.cbytes, self.bytes.len());
        if !self.header.is_lazy() && usize::try_from(cbytes).is_ok_and(|cbytes| cbytes > len) {
            return Err(err!(InvalidHeader, "the chunk has {len} bytes, expected {cbytes} by its header"));
        }
        Ok(())
    }

    /// Returns the location of the blocks, for a lazy chunk of `nblocks` blocks; `None` for a chunk in memory.
    pub(crate) fn lazy_blocks(&self, nblocks: usize) -> Result<Option<LazyBlocks<'a>>> {
        if !self.header.is_lazy() {
            return Ok(None);
        }
        let (trailer, source) = match self.block_location {
            BlockLocation::Memory => {
                return Err(err!(
                    InvalidParam,
                    "the chunk is lazy, and there is no frame to read its blocks from"
                ));
            }
            BlockLocation::Serialized(source) => {
                (LazyTrailer::read(self.header, self.bytes, nblocks)?, source)
            }
            BlockLocation::Frame(trailer, source) => (trailer, source),
        };
        Ok(Some(LazyBlocks { trailer, source }))
    }
}
