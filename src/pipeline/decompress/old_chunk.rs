//! The chunk that a changed chunk is made from: unchanged blocks are decoded, or copied in their encoded form.

use super::super::params::DecompressParams;
use super::super::scratch;
use super::outcome::DecompressOutcome;
use super::plan::DecodePlan;
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::Result;
use crate::malloc::MallocBytes;

/// A chunk whose blocks are decoded, or copied in their encoded form, one by one and on any thread.
pub(crate) struct OldChunk<'a> {
    plan: &'a DecodePlan<'a>,
    reference: Option<MallocBytes>,
}

impl OldChunk<'_> {
    /// Opens `chunk`, whose blocks are of one length, and passes it to `then`. Returns the result of `then`, and that
    /// of the decompression.
    pub(crate) fn open<R>(
        params: &DecompressParams<'_>,
        chunk: &ParsedChunk<'_>,
        then: impl FnOnce(&OldChunk<'_>) -> Result<R>,
    ) -> Result<(R, DecompressOutcome)> {
        DecodePlan::open(chunk, params, |plan| {
            let reference =
                if plan.needs_first_block() { Some(plan.decode_reference_block()?) } else { None };
            let nbytes = chunk.header().nbytes();
            let done = DecompressOutcome { nbytes, used_dictionary: plan.has_dictionary() };
            Ok((then(&OldChunk { plan, reference })?, done))
        })
    }

    /// Decodes block `nblock`, which must exist, into `dest`, which has its length.
    pub(crate) fn decode(&self, nblock: usize, dest: &mut [u8]) -> Result<()> {
        let reference = self.reference.as_deref().filter(|_| nblock > 0);
        scratch::with_scratch(|scratch| {
            self.plan.decode_block(nblock, 0, &mut scratch.block_scratch, dest, reference)
        })
    }

    /// Returns the streams of block `nblock` if a chunk with the header `next` would have the same ones: both are
    /// encoded in the same way, and independently of other blocks and of a dictionary.
    pub(crate) fn reusable_encoded_block(&self, nblock: usize, next: &ChunkHeader) -> Option<&[u8]> {
        let header = self.plan.header();
        let is_same = header.version == next.version
            && header.versionlz == next.versionlz
            && header.flags == next.flags
            && header.typesize == next.typesize
            && header.nbytes == next.nbytes
            && header.blocksize == next.blocksize
            && header.filters == next.filters
            && header.filters_meta == next.filters_meta
            && header.udcompcode == next.udcompcode
            && header.compcode_meta == next.compcode_meta
            && header.blosc2_flags == next.blosc2_flags
            && header.blosc2_flags2 == next.blosc2_flags2;
        let is_independent =
            !self.plan.needs_first_block() && !header.has_dictionary() && !header.is_instrumented();
        if is_same && is_independent { self.plan.encoded_block(nblock) } else { None }
    }
}
