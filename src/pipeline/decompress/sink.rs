//! Decodes some blocks of a chunk for a consumer that reads parts of them.

use super::super::jobs;
use super::super::params::DecompressParams;
use super::super::scratch::Scratch;
use super::super::workload::WorkKind;
use super::outcome::DecompressOutcome;
use super::part::is_partial_decode_worthwhile;
use super::plan::DecodePlan;
use super::ranges::ByteRanges;
use super::uncoded::UncodedContent;
use crate::chunk::{ParsedChunk, SpecialValue};
use crate::err;
use crate::error::{Result, ensure};
use std::ops::Range;

#[derive(Clone, Copy)]
pub(crate) enum BlockContent<'a> {
    Bytes(&'a [u8]),
    /// Zeros, or uninitialised bytes, which read as zeros.
    Zeros,
}

/// A consumer of decoded blocks, which are passed as a list: `n` is the position of a block in that list.
///
/// Threads decode different blocks at the same time and the sink writes their bytes to memory that the threads share,
/// so the functions that receive a block are unsafe. [`decode_into_sink`] borrows the sink exclusively and obeys their
/// rule.
pub(crate) trait BlockSink: Sync {
    /// Returns a range of the `n`-th block, of `len` bytes, outside of which the sink reads nothing.
    fn wanted_range(&self, _n: usize, len: usize) -> Range<usize> {
        0..len
    }

    /// Calls `decode` with the ranges of the `n`-th block, of `len` bytes, that the sink reads, and returns its result.
    /// Returns `false` if the sink has no ranges narrower than [`wanted_range`](Self::wanted_range).
    fn with_byte_ranges(
        &self,
        _n: usize,
        _len: usize,
        _decode: &mut dyn FnMut(&dyn ByteRanges) -> Result<bool>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Calls `decode` with the destination of the whole `n`-th block, and returns its result. The destination is as
    /// long as the block. Returns `None` if no slice of memory is the destination of all its bytes.
    ///
    /// # Safety
    /// No other call of this function or of [`accept`](Self::accept) with the same `n` runs at the same time.
    unsafe fn with_block_dest(
        &self,
        _n: usize,
        _decode: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Option<Result<()>> {
        None
    }

    /// Consumes the content of the `n`-th block. The content is as long as the block, or shorter if the chunk ends inside
    /// the block; only the bytes that are [`wanted_range`](Self::wanted_range) are defined.
    ///
    /// # Errors
    /// Those of the sink, one of them for a content that ends before the last byte that the sink reads.
    ///
    /// # Safety
    /// No other call of this function or of [`with_block_dest`](Self::with_block_dest) with the same `n` runs at the
    /// same time.
    unsafe fn accept(&self, n: usize, content: BlockContent<'_>) -> Result<()>;
}

/// Decodes the blocks `blocks` of `chunk` and passes each to `sink`; in no particular order, and on several threads if
/// the parameters allow it. Masks are ignored.
pub(crate) fn decode_into_sink(
    params: &DecompressParams<'_>,
    chunk: &ParsedChunk<'_>,
    blocks: &[usize],
    sink: &mut dyn BlockSink,
) -> Result<DecompressOutcome> {
    let sink = &*sink;
    ensure!(
        !chunk.header().has_varlen_blocks(),
        InvalidParam,
        "the chunk has variable-length blocks, expected blocks of equal size",
    );
    let params = DecompressParams { mask: None, ..*params };
    DecodePlan::open(chunk, &params, |plan| {
        if let Some(nblock) = blocks.iter().find(|&&nblock| nblock >= plan.nblocks()) {
            return Err(err!(InvalidParam, "no block {nblock} in a chunk of {} blocks", plan.nblocks()));
        }
        let done = DecompressOutcome {
            nbytes: blocks.iter().map(|&nblock| plan.block_range(nblock).len()).sum(),
            used_dictionary: plan.has_dictionary(),
        };
        match plan.uncoded_content() {
            Some(UncodedContent::Special { kind: SpecialValue::Zero | SpecialValue::Uninit, .. }) => {
                // SAFETY: this thread alone uses the sink, which is borrowed exclusively.
                (0..blocks.len()).try_for_each(|n| unsafe { sink.accept(n, BlockContent::Zeros) })?;
            }
            Some(UncodedContent::Memcpyed(bytes)) => {
                for (n, &nblock) in blocks.iter().enumerate() {
                    let Some(bytes) = bytes.get(plan.block_range(nblock)) else {
                        return Err(err!(
                            ReadBuffer,
                            "block {nblock} is outside the {} bytes of the content",
                            bytes.len()
                        ));
                    };
                    // SAFETY: this thread alone uses the sink, which is borrowed exclusively.
                    unsafe { sink.accept(n, BlockContent::Bytes(bytes)) }?;
                }
            }
            content => {
                let needs_first = plan.needs_first_block() && blocks.iter().any(|&nblock| nblock > 0);
                let reference = if needs_first { Some(plan.decode_reference_block()?) } else { None };
                let decoder =
                    SinkDecoder { plan, uncoded_content: content, reference: reference.as_deref(), sink };
                let kind = WorkKind::DecodePart(plan.header().codec_format());
                let load = plan.workload(kind, done.nbytes).limited_to(blocks.len());
                jobs::for_each_block(&load, 0..blocks.len(), |n, worker| {
                    // SAFETY: the sink is borrowed exclusively, and each `n` is passed to one thread once.
                    unsafe { decoder.decode(n, blocks[n], worker.tid, worker.scratch) }
                })?;
            }
        }
        Ok(done)
    })
}

/// The blocks of a chunk that are decoded for a sink.
struct SinkDecoder<'a> {
    plan: &'a DecodePlan<'a>,
    /// The content of a chunk whose blocks are not decoded.
    uncoded_content: Option<UncodedContent<'a>>,
    /// The first block, if decoding others needs it.
    reference: Option<&'a [u8]>,
    sink: &'a dyn BlockSink,
}

impl SinkDecoder<'_> {
    /// Decodes block `nblock`, the `n`-th of the list, as far as the sink reads it, and passes it to the sink.
    ///
    /// # Safety
    /// No other call with the same `n` runs at the same time, and nothing else uses the sink.
    unsafe fn decode(&self, n: usize, nblock: usize, tid: usize, scratch: &mut Scratch) -> Result<()> {
        let SinkDecoder { plan, uncoded_content: content, reference, sink } = *self;
        let reference = reference.filter(|_| nblock > 0);
        let Scratch { block_scratch, decoded_block } = scratch;
        let mut decode = |dest: &mut [u8]| plan.decode_block(nblock, tid, block_scratch, dest, reference);
        // SAFETY: by the contract of this function no other call with the same `n` runs at the same time.
        let done = unsafe { sink.with_block_dest(n, &mut decode) };
        if let Some(done) = done {
            return done;
        }
        let range = plan.block_range(nblock);
        let len = range.len();
        let wanted = sink.wanted_range(n, len);
        let block = decoded_block.get(len)?;
        if let Some(content) = content {
            content.read(range.start + wanted.start, (&mut block[wanted]).into())?;
            // SAFETY: by the contract of this function no other call with the same `n` runs at the same time, and
            // `with_block_dest` has returned.
            return unsafe { sink.accept(n, BlockContent::Bytes(block)) };
        }
        let how = plan.part_decoding();
        let is_decoded = sink.with_byte_ranges(n, len, &mut |ranges| {
            plan.decode_ranges(how, nblock, &wanted, ranges, block_scratch, block)
        })? || (is_partial_decode_worthwhile(&wanted, len)
            && plan.decode_prefixes(how, nblock, wanted.clone(), block_scratch, &mut block[wanted])?);
        if !is_decoded {
            plan.decode_block(nblock, tid, block_scratch, block, reference)?;
        }
        // SAFETY: by the contract of this function no other call with the same `n` runs at the same time, and
        // `with_block_dest` and `with_byte_ranges` have returned.
        unsafe { sink.accept(n, BlockContent::Bytes(block)) }
    }
}
