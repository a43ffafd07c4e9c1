//! Decoding one block of a plan (`chunk.md` 2.3, 4.2): streams, filters, postfilter.

use super::super::callbacks::{BlockPlace, Postfilter};
use super::super::scratch::{self, BlockScratch, ScratchBuffer};
use super::lazy;
use super::plan::DecodePlan;
use super::streams::{decode_bitshuffled, decode_payload, decode_shuffled, decode_split};
use crate::chunk::class::{BlockCoding, ChunkClass, may_predate_the_split_mark};
use crate::chunk::{LazyBlocks, Special};
use crate::codec::{WRITE_AHEAD, Workspace};
use crate::error::Result;
use crate::filter::{bitshuffle, shuffle};
use crate::malloc::Malloced;

impl DecodePlan<'_> {
    /// Decodes block `nblock` into `dest`, which has its length, and runs the postfilter. `reference` is the decoded
    /// first block if [`needs_first_block`](Self::needs_first_block) and `nblock` is another one. `tid` is the number
    /// of the worker.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    #[inline]
    pub(crate) fn decode_block(
        &self,
        nblock: usize,
        tid: usize,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        match self.params.postfilter.filter(|_| !self.header.is_instrumented()) {
            None => self.decode_unfiltered(nblock, scratch, dest, reference),
            Some(postfilter) => self.decode_filtered(postfilter, (nblock, tid), scratch, dest, reference),
        }
    }

    /// Decodes block `nblock` into the scratch and runs the postfilter from there into `dest`.
    fn decode_filtered(
        &self,
        postfilter: &Postfilter,
        (nblock, tid): (usize, usize),
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        let header = self.header;
        let typesize = match self.class {
            ChunkClass::Special(Special::Value) => self.repeated_value().len(),
            _ => usize::from(header.typesize),
        };
        let blocksize = if header.has_varlen_blocks() { self.largest() } else { self.blocks().blocksize() };
        // As large as in the reference.
        let ttmp_nbytes = 4 * (self.largest() + 4 * usize::from(header.typesize));
        let len = dest.len();
        let mut input = std::mem::take(&mut scratch.block);
        let block = input.get(len)?;
        let decoded = self.decode_unfiltered(nblock, scratch, block, reference);
        let result = decoded.and_then(|()| {
            let ttmp = scratch.front.get(ttmp_nbytes.max(len))?;
            let place = BlockPlace {
                nchunk: self.params.nchunk,
                nblock,
                offset: nblock * blocksize,
                tid,
                ttmp: ttmp.as_mut_ptr(),
                ttmp_nbytes,
            };
            if self.class.coding().is_some() {
                // SAFETY: the scratch has at least that length, and is borrowed here.
                return unsafe { postfilter.run(block, dest, typesize, place) };
            }
            // The reference passes the content of chunks without coded blocks in the callback's scratch.
            ttmp[..len].copy_from_slice(block);
            // SAFETY: as above; the input is the beginning of the scratch.
            unsafe { postfilter.run(&ttmp[..len], dest, typesize, place) }
        });
        scratch.block = input;
        result
    }

    /// Does the same as [`decode_block`](Self::decode_block), without the postfilter.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    #[inline]
    pub(super) fn decode_unfiltered(
        &self,
        nblock: usize,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        match (self.class, &self.lazy) {
            (ChunkClass::Blocks(coding), None) => {
                let bytes = self.block_bytes(nblock)?;
                self.decode_streams(nblock, coding, bytes, scratch, dest, reference)
            }
            (ChunkClass::Blocks(coding), Some(blocks)) => {
                let mut buffer = std::mem::take(&mut scratch.stream);
                let result = self
                    .lazy_block_bytes(nblock, blocks, &mut buffer)
                    .and_then(|bytes| self.decode_streams(nblock, coding, bytes, scratch, dest, reference));
                scratch.stream = buffer;
                result
            }
            (ChunkClass::VarBlocks(coding), None) => {
                self.decode_var_block(coding, self.var_blocks[nblock].payload(self.chunk), scratch, dest)
            }
            (ChunkClass::VarBlocks(coding), Some(blocks)) => {
                let payload = lazy::read_payload(blocks, &self.var_blocks, nblock)?;
                self.decode_var_block(coding, &payload, scratch, dest)
            }
            (ChunkClass::Plain, Some(blocks)) => {
                blocks.read(self.header.len() + self.range(nblock).start, dest)
            }
            (ChunkClass::Plain, None) => self.plain().read(self.range(nblock).start, dest.into()),
            (ChunkClass::Special(kind), _) => self.repeated(kind).read(self.range(nblock).start, dest.into()),
        }
    }

    /// Decodes block `nblock` of a chunk with equal blocks. The block's streams are at the start of `bytes`.
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
        let len = dest.len();
        let nstreams = self.nstreams(nblock);
        let decoder = || self.decoder();
        let BlockScratch { front, workspace, .. } = scratch;
        match coding {
            BlockCoding::Direct => decode_split(decoder, nstreams, bytes, workspace, dest, len),
            BlockCoding::Shuffled { unit } => {
                let front = front.get(len + WRITE_AHEAD)?;
                decode_shuffled(decoder, (nstreams, unit), bytes, workspace, front, dest)
            }
            BlockCoding::Bitshuffled => {
                let front = front.get(len + WRITE_AHEAD)?;
                let typesize = usize::from(self.header.typesize);
                decode_bitshuffled(decoder, (nstreams, typesize), bytes, workspace, front, dest)
            }
            BlockCoding::General => self.decode_general(scratch, dest, reference, |workspace, dest| {
                let decoded = decode_split(decoder, nstreams, bytes, workspace, dest, len);
                if decoded.is_err() && may_predate_the_split_mark(self.header) && self.lazy.is_none() {
                    return decode_split(decoder, 1, bytes, workspace, dest, len).or(decoded);
                }
                decoded
            }),
        }
    }

    /// Decodes a block of variable length from its payload.
    fn decode_var_block(
        &self,
        coding: BlockCoding,
        payload: &[u8],
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<()> {
        let len = dest.len();
        let decoder = self.decoder();
        let BlockScratch { front, workspace, .. } = scratch;
        let typesize = usize::from(self.header.typesize);
        match coding {
            BlockCoding::Direct => decode_payload(&decoder, payload, workspace, dest),
            BlockCoding::Shuffled { unit } => {
                let front = front.get(len)?;
                decode_payload(&decoder, payload, workspace, front)?;
                shuffle::unshuffle(unit, front, dest);
                Ok(())
            }
            BlockCoding::Bitshuffled => {
                let front = front.get(len)?;
                decode_payload(&decoder, payload, workspace, front)?;
                bitshuffle::bitunshuffle(typesize, front, dest);
                Ok(())
            }
            BlockCoding::General => self.decode_general(scratch, dest, None, |workspace, dest| {
                decode_payload(&decoder, payload, workspace, &mut dest[..len])
            }),
        }
    }

    /// Decodes streams with `decode`, which writes them to the start of its slice, and undoes the filters. The result
    /// is in `dest`.
    fn decode_general(
        &self,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
        reference: Option<&[u8]>,
        decode: impl FnOnce(&mut Workspace, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let BlockScratch { front, back, workspace, .. } = scratch;
        if self.chain.works_in_place() {
            decode(workspace, dest)?;
            return self.chain.backward_in_place(dest, reference);
        }
        let front = front.get(dest.len() + WRITE_AHEAD)?;
        decode(workspace, front)?;
        let back = back.get(dest.len())?;
        let dparams = self.params.for_callbacks(i32::from(self.header.typesize));
        self.chain.backward(front, back, dest, reference, &dparams, self.header.version)
    }

    /// Reads the streams of block `nblock` of a lazy chunk into `buffer`.
    pub(super) fn lazy_block_bytes<'b>(
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
    ///
    /// # Errors
    /// `MemoryAlloc`, those of [`decode_block`](Self::decode_block).
    pub(super) fn reference_block(&self) -> Result<Malloced> {
        let mut block = Malloced::zeroed(self.range(0).len())?;
        scratch::with(|scratch| self.decode_unfiltered(0, &mut scratch.coding, &mut block, None))?;
        Ok(block)
    }
}
