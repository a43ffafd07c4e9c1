//! Decoding one block of a plan (`chunk.md` 2.3, 4.2): streams, filters, postfilter.

use super::super::callbacks::{BlockContext, Postfilter};
use super::super::scratch::{self, BlockScratch, ScratchBuffer};
use super::lazy;
use super::plan::DecodePlan;
use super::streams::{decode_block_streams, decode_shuffled_block, decode_varlen_payload, undo_only_filter};
use crate::chunk::class::{BlockCoding, ChunkClass, may_predate_dont_split};
use crate::chunk::{LazyBlocks, SpecialValue};
use crate::codec::{DECODE_SLACK, Workspace};
use crate::error::Result;
use crate::malloc::MallocBytes;

impl DecodePlan<'_> {
    /// Decodes block `nblock` into `dest`, which has its length, and runs the postfilter. `reference` is the decoded
    /// first block if [`needs_first_block`](Self::needs_first_block) and `nblock` is another one. `tid` is the number
    /// of the worker.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    #[inline(always)]
    pub(crate) fn decode_block(
        &self,
        nblock: usize,
        tid: usize,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        match self.params.postfilter.filter(|_| !self.header.is_instrumented()) {
            None => self.decode_without_postfilter(nblock, scratch, dest, reference),
            Some(postfilter) => {
                self.decode_with_postfilter(postfilter, (nblock, tid), scratch, dest, reference)
            }
        }
    }

    /// Decodes block `nblock` into the scratch and runs the postfilter from there into `dest`.
    fn decode_with_postfilter(
        &self,
        postfilter: &Postfilter,
        (nblock, tid): (usize, usize),
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        let header = self.header;
        let typesize = match self.class {
            ChunkClass::Special(SpecialValue::Value) => self.repeated_value().len(),
            _ => usize::from(header.typesize),
        };
        let blocksize =
            if header.has_varlen_blocks() { self.largest_block_nbytes() } else { self.blocks().blocksize() };
        // As large as in the reference.
        let ttmp_nbytes = 4 * (self.largest_block_nbytes() + 4 * usize::from(header.typesize));
        let len = dest.len();
        let mut input = std::mem::take(&mut scratch.block);
        let block = input.get(len)?;
        let decoded = self.decode_without_postfilter(nblock, scratch, block, reference);
        let result = decoded.and_then(|()| {
            let ttmp = scratch.front.get(ttmp_nbytes.max(len))?;
            let block_context = BlockContext {
                nchunk: self.params.nchunk,
                nblock,
                offset: nblock * blocksize,
                tid,
                ttmp: ttmp.as_mut_ptr(),
                ttmp_nbytes,
            };
            if self.class.coding().is_some() {
                // SAFETY: the scratch has at least that length, and is borrowed here.
                return unsafe { postfilter.run(block, dest, typesize, block_context) };
            }
            // The reference passes the content of chunks without coded blocks in the callback's scratch.
            ttmp[..len].copy_from_slice(block);
            // SAFETY: the scratch has at least `ttmp_nbytes` bytes and is borrowed here; the callback may read its
            // input, the beginning of the scratch, until it writes to it.
            unsafe { postfilter.run(&ttmp[..len], dest, typesize, block_context) }
        });
        scratch.block = input;
        result
    }

    /// Does the same as [`decode_block`](Self::decode_block), without the postfilter.
    #[inline]
    pub(super) fn decode_without_postfilter(
        &self,
        nblock: usize,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        match (self.class, &self.lazy) {
            (ChunkClass::Blocks(coding), None) => {
                let bytes = self.bytes_from_block_start(nblock)?;
                self.decode_streams(nblock, coding, bytes, scratch, dest, reference)
            }
            (ChunkClass::Blocks(coding), Some(blocks)) => {
                let mut buffer = std::mem::take(&mut scratch.stream);
                let result = self
                    .read_lazy_block(nblock, blocks, &mut buffer)
                    .and_then(|bytes| self.decode_streams(nblock, coding, bytes, scratch, dest, reference));
                scratch.stream = buffer;
                result
            }
            (ChunkClass::VarBlocks(coding), None) => self.decode_varlen_block(
                coding,
                self.varlen_blocks[nblock].payload(self.chunk),
                scratch,
                dest,
            ),
            (ChunkClass::VarBlocks(coding), Some(blocks)) => {
                let payload = lazy::read_varlen_payload(blocks, &self.varlen_blocks, nblock)?;
                self.decode_varlen_block(coding, &payload, scratch, dest)
            }
            (ChunkClass::Memcpyed, Some(blocks)) => {
                blocks.read(self.header.len() + self.block_range(nblock).start, dest)
            }
            (ChunkClass::Memcpyed, None) => {
                self.memcpyed_content().read(self.block_range(nblock).start, dest.into())
            }
            (ChunkClass::Special(kind), _) => {
                self.special_content(kind).read(self.block_range(nblock).start, dest.into())
            }
        }
    }

    /// Decodes block `nblock` of a chunk with equal blocks. The block's streams are at the start of `bytes`. A block of
    /// several streams that cannot be decoded is tried as one stream, if the chunk may come from a release without the
    /// DONT_SPLIT flag.
    #[inline]
    fn decode_streams(
        &self,
        nblock: usize,
        coding: BlockCoding,
        bytes: &[u8],
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        let nstreams = self.nstreams(nblock);
        let decoded = self.decode_nstreams(nstreams, coding, bytes, scratch, dest, reference);
        if decoded.is_err() && may_predate_dont_split(self.header) && self.lazy.is_none() {
            return self.decode_nstreams(1, coding, bytes, scratch, dest, reference).or(decoded);
        }
        decoded
    }

    /// Decodes a block whose `nstreams` streams are at the start of `bytes`.
    #[inline]
    fn decode_nstreams(
        &self,
        nstreams: usize,
        coding: BlockCoding,
        bytes: &[u8],
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        let len = dest.len();
        let decoder = || self.decoder();
        let BlockScratch { front, workspace, .. } = scratch;
        match coding {
            BlockCoding::Direct => decode_block_streams(decoder, nstreams, bytes, workspace, dest, len),
            BlockCoding::Shuffled { .. } | BlockCoding::Bitshuffled => {
                let front = front.get(len + DECODE_SLACK)?;
                let filter = (coding, usize::from(self.header.typesize));
                decode_shuffled_block(decoder, nstreams, bytes, workspace, filter, front, dest)
            }
            BlockCoding::General => self.decode_with_filters(scratch, dest, reference, |workspace, dest| {
                decode_block_streams(decoder, nstreams, bytes, workspace, dest, len)
            }),
        }
    }

    /// Decodes a block of variable length from its payload.
    fn decode_varlen_block(
        &self,
        coding: BlockCoding,
        payload: &[u8],
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<()> {
        let len = dest.len();
        let decoder = self.decoder();
        let BlockScratch { front, workspace, .. } = scratch;
        match coding {
            BlockCoding::Direct => decode_varlen_payload(&decoder, payload, workspace, dest),
            BlockCoding::Shuffled { .. } | BlockCoding::Bitshuffled => {
                let front = front.get(len)?;
                decode_varlen_payload(&decoder, payload, workspace, front)?;
                undo_only_filter(coding, usize::from(self.header.typesize), front, dest);
                Ok(())
            }
            BlockCoding::General => self.decode_with_filters(scratch, dest, None, |workspace, dest| {
                decode_varlen_payload(&decoder, payload, workspace, &mut dest[..len])
            }),
        }
    }

    /// Decodes streams with `decode`, which writes them to the start of its slice, and undoes the filters. The result
    /// is in `dest`.
    fn decode_with_filters(
        &self,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
        decode: impl FnOnce(&mut Workspace, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let BlockScratch { front, back, workspace, .. } = scratch;
        if self.filters.is_undone_in_place() {
            decode(workspace, dest)?;
            return self.filters.backward_in_place(dest, reference);
        }
        let front = front.get(dest.len() + DECODE_SLACK)?;
        decode(workspace, front)?;
        let back = back.get(dest.len())?;
        let dparams = self.params.c_dparams(i32::from(self.header.typesize));
        self.filters.backward(front, back, dest, reference, &dparams, self.header.version)
    }

    /// Reads the streams of block `nblock` of a lazy chunk into `buffer`.
    #[inline(always)]
    pub(super) fn read_lazy_block<'b>(
        &self,
        nblock: usize,
        blocks: &LazyBlocks<'_>,
        buffer: &'b mut ScratchBuffer,
    ) -> Result<&'b [u8]> {
        let start = self.block_start(nblock)?;
        let limit = self.blocks().blocksize() + 4 * usize::from(self.header.typesize);
        lazy::read_streams(blocks, nblock, start, limit, buffer.get(limit)?)
    }

    /// Decodes the first block, without postfilter, as the reference for delta. The size of the block is an unchecked
    /// claim of the header, so the memory is zeroed lazily by the system.
    pub(super) fn decode_reference_block(&self) -> Result<MallocBytes> {
        let mut block = MallocBytes::zeroed(self.block_range(0).len())?;
        scratch::with_scratch(|scratch| {
            self.decode_without_postfilter(0, &mut scratch.block_scratch, &mut block, None)
        })?;
        Ok(block)
    }
}
