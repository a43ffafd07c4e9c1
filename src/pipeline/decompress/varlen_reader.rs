//! Reads the blocks of a variable-length-block chunk one at a time (`chunk.md` 4.6).

use super::super::jobs;
use super::super::params::DecompressParams;
use super::super::scratch;
use super::super::shared_output::SharedOutput;
use super::super::workload::WorkKind;
use super::plan::DecodePlan;
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::{Result, ensure};
use crate::fallible;
use crate::out_buffer::OutBuffer;

/// A chunk of variable-length blocks, opened for reading. Masks are for whole chunks and ignored here
/// (`chunk.md` 10.10).
pub(crate) struct VarlenReader<'a> {
    plan: &'a DecodePlan<'a>,
}

impl VarlenReader<'_> {
    /// Opens `chunk` and passes the reader to `then`.
    pub(crate) fn open<R>(
        params: &DecompressParams<'_>,
        chunk: &ParsedChunk<'_>,
        then: impl FnOnce(&VarlenReader<'_>) -> Result<R>,
    ) -> Result<R> {
        ensure!(
            chunk.header().has_varlen_blocks(),
            InvalidParam,
            "the chunk has blocks of equal size, expected variable-length blocks",
        );
        let params = DecompressParams { mask: None, ..*params };
        DecodePlan::open(chunk, &params, |plan| then(&VarlenReader { plan }))
    }

    pub(crate) fn header(&self) -> &ChunkHeader {
        self.plan.header()
    }

    pub(crate) fn nblocks(&self) -> usize {
        self.plan.nblocks()
    }

    /// Returns the uncompressed size of block `nblock` in bytes.
    ///
    /// # Panics
    /// If `nblock` is out of range.
    pub(crate) fn block_nbytes(&self, nblock: usize) -> usize {
        self.plan.block_range(nblock).len()
    }

    /// Decodes block `nblock` into `dest`, which has its size.
    pub(crate) fn decode_block(&self, nblock: usize, dest: OutBuffer<'_>) -> Result<()> {
        // SAFETY: decoders write each byte before they read it.
        let dest = unsafe { dest.into_bytes() };
        scratch::with_scratch(|scratch| {
            self.plan.decode_block(nblock, 0, &mut scratch.block_scratch, dest, None)
        })
    }

    /// Decodes every block, each into its own buffer, which has its size.
    pub(crate) fn decode_all(&self, dests: Vec<OutBuffer<'_>>) -> Result<()> {
        let outs = fallible::collect(dests.into_iter().map(SharedOutput::new))?;
        let header = self.plan.header();
        let load = self.plan.workload(WorkKind::Decode(header.codec_format()), header.nbytes());
        jobs::for_each_block(&load, 0..outs.len(), |nblock, worker| {
            // SAFETY: each block has a separate buffer and is decoded once.
            let dest = unsafe { outs[nblock].write_range(0..outs[nblock].len()) };
            self.plan.decode_block(nblock, worker.tid, &mut worker.scratch.block_scratch, dest, None)
        })
    }
}
