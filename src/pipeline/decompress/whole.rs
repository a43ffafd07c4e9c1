//! Decompresses a whole chunk.

use super::super::jobs;
use super::super::params::DecompressParams;
use super::super::scratch::Scratch;
use super::super::shared_output::SharedOutput;
use super::super::workload::{WorkKind, Workload};
use super::fast_path::try_decompress_fast;
use super::outcome::DecompressOutcome;
use super::plan::DecodePlan;
use crate::chunk::ParsedChunk;
use crate::err;
use crate::error::Result;
use crate::out_buffer::OutBuffer;

/// Decompresses the whole of `chunk` into `dest`, which may be longer. The ranges of masked-out blocks are not written.
///
/// # Errors
/// Those of `chunk.md` 2: the content of `dest` is undefined after an error.
pub(crate) fn decompress(
    params: &DecompressParams<'_>,
    chunk: &ParsedChunk<'_>,
    mut dest: OutBuffer<'_>,
) -> Result<DecompressOutcome> {
    let is_changed = params.postfilter.is_some() || params.mask.is_some();
    match try_decompress_fast(chunk, is_changed, dest.reborrow()) {
        Some(done) => Ok(done),
        None => decompress_general(params, chunk, dest),
    }
}

/// General decompression path, for chunks that [`try_decompress_fast`] does not handle.
pub(crate) fn decompress_general(
    params: &DecompressParams<'_>,
    chunk: &ParsedChunk<'_>,
    dest: OutBuffer<'_>,
) -> Result<DecompressOutcome> {
    let nbytes = chunk.header().nbytes();
    let there = dest.len();
    let Some(dest) = dest.get(0..nbytes) else {
        return Err(err!(WriteBuffer, "`dest` has {there} bytes, expected {nbytes} or more"));
    };
    DecodePlan::open(chunk, params, |plan| {
        let content = plan.uncoded_content();
        let kind = match content {
            Some(_) => WorkKind::Copy,
            None => WorkKind::Decode(plan.header().codec_format()),
        };
        let load = plan.workload(kind, nbytes);
        match (content, params.mask, load.nthreads()) {
            (Some(content), None, 1) => content.read(0, dest)?,
            _ => decode_blocks(plan, params.mask, &load, dest)?,
        }
        Ok(DecompressOutcome { nbytes, used_dictionary: plan.has_dictionary() })
    })
}

/// Decodes the blocks that `mask` does not leave out, each to its position in `dest`.
fn decode_blocks(
    plan: &DecodePlan<'_>,
    mask: Option<&[u8]>,
    load: &Workload,
    dest: OutBuffer<'_>,
) -> Result<()> {
    let is_masked = |nblock: usize| mask.is_some_and(|mask| mask[nblock] != 0);
    // The reference block of delta is decoded first, into separate memory if `dest` does not receive its unchanged
    // bytes.
    let is_reference_separate = plan.needs_first_block() && (is_masked(0) || plan.has_postfilter());
    let reference = if is_reference_separate { Some(plan.decode_reference_block()?) } else { None };
    let out = SharedOutput::new(dest);
    let decode = |nblock: usize, tid: usize, scratch: &mut Scratch, reference: Option<&[u8]>| {
        if is_masked(nblock) {
            return Ok(());
        }
        // SAFETY: blocks are disjoint, and each is decoded once.
        let dest = unsafe { out.write_range(plan.block_range(nblock)) };
        plan.decode_block(nblock, tid, &mut scratch.block_scratch, dest, reference.filter(|_| nblock > 0))
    };
    if !plan.needs_first_block() || is_reference_separate {
        return jobs::for_each_block(load, 0..plan.nblocks(), |nblock, worker| {
            decode(nblock, worker.tid, worker.scratch, reference.as_deref())
        });
    }
    jobs::for_each_block(load, 0..1, |nblock, worker| decode(nblock, worker.tid, worker.scratch, None))?;
    // SAFETY: the first block is decoded, and the other blocks are disjoint from it.
    let first = unsafe { out.read_range(plan.block_range(0)) };
    jobs::for_each_block(load, 1..plan.nblocks(), |nblock, worker| {
        decode(nblock, worker.tid, worker.scratch, Some(first))
    })
}
