//! The plan of a read: the class of a chunk and the positions of its blocks, checked once (`chunk.md` 2.2). Its methods
//! decode blocks ([`block`](super::block)) and parts of blocks ([`part`](super::part)).

use super::super::filters::FilterSteps;
use super::super::params::DecompressParams;
use super::super::workload::{WorkKind, Workload};
use super::chunk_decoder::{ChunkDecoder, built_in_codec};
use super::lazy;
use super::uncoded::{self, UncodedContent};
use crate::chunk::class::{BlockCoding, ChunkClass};
use crate::chunk::stream;
use crate::chunk::varlen::{self, VarBlock};
use crate::chunk::{BlockGeometry, ChunkHeader, LazyBlocks, ParsedChunk, SpecialValue, dictionary, read_i32};
use crate::codec::DecoderDictionary;
use crate::err;
use crate::error::{Result, ensure};
use std::ops::Range;

/// A chunk whose header, tables and dictionary are checked, with the state that decoding its blocks needs.
pub(crate) struct DecodePlan<'a> {
    pub(super) header: &'a ChunkHeader,
    /// Header, tables and, unless the chunk is lazy, blocks.
    pub(super) chunk: &'a [u8],
    pub(super) params: &'a DecompressParams<'a>,
    pub(super) class: ChunkClass,
    /// The positions and the source of the blocks of a lazy chunk.
    pub(super) lazy: Option<LazyBlocks<'a>>,
    /// The filters of a [general](BlockCoding::General) coding.
    pub(super) filters: &'a FilterSteps<'a>,
    dictionary: Option<DecoderDictionary>,
    blocks: BlockGeometry,
    /// The blocks of [variable length](ChunkClass::VarBlocks).
    pub(super) varlen_blocks: Vec<VarBlock>,
    /// Length in bytes of the chunk before its first block, for blocks of equal size.
    first_block_offset: usize,
    nblocks: usize,
    largest_block_nbytes: usize,
}

impl<'a> DecodePlan<'a> {
    /// Checks `chunk` as a whole and passes its plan to `then`.
    ///
    /// Takes a closure instead of returning the plan: moving the struct costs 5 % on 512-byte chunks
    /// (`cargo bench --bench side_by_side -- --group small`).
    ///
    /// # Errors
    /// Those of `chunk.md` 2.2 from step 2 on, or what `then` returns.
    #[inline]
    pub(crate) fn open<R>(
        chunk: &ParsedChunk<'_>,
        params: &DecompressParams<'_>,
        then: impl FnOnce(&DecodePlan<'_>) -> Result<R>,
    ) -> Result<R> {
        let (header, bytes) = (chunk.header(), chunk.bytes());
        chunk.check_len()?;
        let blocks = BlockGeometry::of(header);
        let nblocks = if header.has_varlen_blocks() { varlen::nblocks(header) } else { blocks.count() };
        if let Some(mask) = params.mask.filter(|mask| mask.len() != nblocks) {
            return Err(err!(Data, "the mask has {} blocks, expected {nblocks}", mask.len()));
        }
        let class = chunk.class()?;
        uncoded::check_memcpyed_len(header)?;
        let tables = header.len() + 4 * nblocks;
        let has_starts = class.coding().is_some() || (class == ChunkClass::Memcpyed && header.is_lazy());
        ensure!(
            !has_starts || i32::try_from(tables).is_ok(),
            InvalidHeader,
            "the block starts end at byte {tables}, expected at most {}",
            i32::MAX,
        );
        ensure!(
            !has_starts || bytes.len() >= tables || header.nbytes <= 0,
            ReadBuffer,
            "the chunk has {} bytes, expected {nblocks} block starts",
            bytes.len(),
        );
        let lazy = if matches!(class, ChunkClass::Special(_)) { None } else { chunk.lazy_blocks(nblocks)? };
        let (mut dictionary, mut first_block) = (None, tables);
        match &lazy {
            Some(blocks) if header.has_dictionary() => {
                dictionary = digest_dictionary(header, &lazy::read_dictionary(header, blocks, tables)?)?;
            }
            None if header.has_dictionary() && nblocks > 0 => {
                let section = dictionary::read(bytes, tables)?;
                dictionary = digest_dictionary(header, section)?;
                first_block += dictionary::SIZE_FIELD_LEN + section.len();
            }
            _ => {}
        }
        let varlen_blocks = match (class, &lazy) {
            (ChunkClass::VarBlocks(_), None) => varlen::block_table(header, bytes)?,
            (ChunkClass::VarBlocks(_), Some(blocks)) => lazy::read_varlen_table(header, bytes, blocks)?,
            _ => Vec::new(),
        };
        let largest = match class {
            ChunkClass::VarBlocks(_) => varlen_blocks.iter().map(|block| block.nbytes).max().unwrap_or(0),
            _ => blocks.blocksize().min(blocks.nbytes()),
        };
        let typesize = usize::from(header.typesize);
        let filters = match class.coding() {
            Some(BlockCoding::General) if !header.is_instrumented() => {
                &FilterSteps::new(&header.filters, &header.filters_meta, typesize, params.container)
            }
            _ => &FilterSteps::EMPTY,
        };
        then(&DecodePlan {
            header,
            chunk: bytes,
            params,
            class,
            lazy,
            filters,
            dictionary,
            blocks,
            varlen_blocks,
            first_block_offset: first_block,
            nblocks,
            largest_block_nbytes: largest,
        })
    }

    pub(crate) fn header(&self) -> &ChunkHeader {
        self.header
    }

    pub(crate) fn nblocks(&self) -> usize {
        self.nblocks
    }

    /// Returns the size of the largest block in bytes.
    pub(super) fn largest_block_nbytes(&self) -> usize {
        self.largest_block_nbytes
    }

    /// Returns the work of decoding blocks with `nbytes` bytes in total.
    pub(super) fn workload(&self, kind: WorkKind, nbytes: usize) -> Workload {
        let waits = self.lazy.is_some() || self.has_postfilter();
        Workload::new(kind, self.params.nthreads, nbytes, self.largest_block_nbytes, waits)
    }

    pub(super) fn has_postfilter(&self) -> bool {
        self.params.postfilter.is_some()
    }

    pub(super) fn blocks(&self) -> &BlockGeometry {
        &self.blocks
    }

    pub(crate) fn has_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    /// Returns the range of bytes of the chunk's content that block `nblock` holds.
    ///
    /// # Panics
    /// If the chunk has variable-length blocks and `nblock` is out of range.
    pub(crate) fn block_range(&self, nblock: usize) -> Range<usize> {
        match self.class {
            ChunkClass::VarBlocks(_) => {
                let block = &self.varlen_blocks[nblock];
                block.offset..block.offset + block.nbytes
            }
            _ => self.blocks.range(nblock),
        }
    }

    /// Returns whether decoding other blocks needs the first one: delta, on compressed blocks of equal size
    /// (`filters.md` 6).
    pub(crate) fn needs_first_block(&self) -> bool {
        matches!(self.class, ChunkClass::Blocks(_)) && self.nblocks > 0 && self.filters.has_delta()
    }

    /// Returns the content if nothing must be decoded: special or plain, in memory, no postfilter.
    pub(super) fn uncoded_content(&self) -> Option<UncodedContent<'a>> {
        if self.has_postfilter() || self.lazy.is_some() {
            return None;
        }
        UncodedContent::of_class(self.class, self.header, self.chunk)
    }

    pub(super) fn special_content(&self, kind: SpecialValue) -> UncodedContent<'a> {
        UncodedContent::special(kind, self.header, self.chunk)
    }

    /// Returns the content of a plain chunk in memory.
    pub(super) fn memcpyed_content(&self) -> UncodedContent<'a> {
        UncodedContent::memcpyed(self.header, self.chunk)
    }

    /// Returns the value of a repeated-value chunk; empty in others.
    pub(super) fn repeated_value(&self) -> &'a [u8] {
        uncoded::repeated_value(self.header, self.chunk)
    }

    pub(super) fn decoder(&self) -> ChunkDecoder<'_> {
        ChunkDecoder::new(self.header, self.params, self.dictionary.as_ref(), self.chunk)
    }

    /// Returns the number of streams of block `nblock`.
    pub(super) fn nstreams(&self, nblock: usize) -> usize {
        self.blocks.nstreams(nblock, self.header.is_split(), usize::from(self.header.typesize))
    }

    /// Returns the chunk from the first stream of block `nblock` on; for equal blocks in memory.
    #[inline(always)]
    pub(super) fn bytes_from_block_start(&self, nblock: usize) -> Result<&'a [u8]> {
        let start = self.block_start(nblock)?;
        ensure!(
            start >= self.first_block_offset && start < self.chunk.len(),
            Data,
            "block {nblock} begins at {start}, expected at least {} and less than {}",
            self.first_block_offset,
            self.chunk.len(),
        );
        Ok(&self.chunk[start..])
    }

    /// Returns the offset of the first stream of block `nblock` in the chunk, in bytes.
    #[inline(always)]
    pub(super) fn block_start(&self, nblock: usize) -> Result<usize> {
        let start = read_i32(self.chunk, self.header.len() + 4 * nblock);
        match start.map(usize::try_from) {
            Some(Ok(start)) if start > 0 => Ok(start),
            _ => Err(err!(Data, "block {nblock} begins at {start:?}, expected 1 or more")),
        }
    }

    /// Returns the stored streams of block `nblock`; `None` if they are damaged, or the chunk has no equal coded blocks
    /// or is not in memory.
    pub(super) fn encoded_block(&self, nblock: usize) -> Option<&'a [u8]> {
        let ChunkClass::Blocks(_) = self.class else { return None };
        if self.lazy.is_some() {
            return None;
        }
        let bytes = self.bytes_from_block_start(nblock).ok()?;
        let nstreams = self.nstreams(nblock);
        let len = self.block_range(nblock).len();
        let neblock = len.checked_div(nstreams).filter(|neblock| neblock * nstreams == len && len > 0)?;
        let mut rest = bytes;
        for _ in 0..nstreams {
            stream::read(&mut rest, neblock).ok()?;
        }
        bytes.get(..bytes.len() - rest.len())
    }
}

/// Returns the digested dictionary for the chunk's codec; `None` for codecs that are not of the format.
fn digest_dictionary(header: &ChunkHeader, bytes: &[u8]) -> Result<Option<DecoderDictionary>> {
    built_in_codec(header).map(|codec| DecoderDictionary::new(codec, bytes)).transpose()
}
