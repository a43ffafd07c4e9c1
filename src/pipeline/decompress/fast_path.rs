//! Fast path for in-memory chunks of one block with at most one shuffle or bitshuffle, and for short chunks that are
//! plain or special.
//!
//! Small buffers are compressed to these chunks (`cargo bench --bench side_by_side -- --group small`). The coding of
//! the block is that of the [class](crate::chunk::class); nothing is prepared for several blocks, threads,
//! dictionaries, callbacks or other filters. The fast path reports no errors: damaged chunks, and those of any other
//! kind, go to the [plan](super::plan).

use super::super::scratch::{self, BlockScratch};
use super::outcome::DecompressOutcome;
use super::streams::{decode_block_streams, decode_shuffled_block};
use super::uncoded::read_uncoded;
use crate::chunk::class::BlockCoding;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, version};
use crate::chunk::{ParsedChunk, read_i32};
use crate::codec::{BuiltInCodec, DECODE_SLACK};
use crate::out_buffer::OutBuffer;
use crate::pool;
use crate::tuning::tunable;

tunable! {
    /// Whether chunks of one block are decompressed without a plan.
    const HAS_FAST_PATH: bool = true;
}

/// Longest content, in bytes, that one thread fills or copies: longer ones may be worth several threads.
const MAX_UNCODED_NBYTES: usize = 64 << 10;

/// Decompresses the chunk into `dest`, which may be longer than its content. Returns `None` for a chunk that needs a
/// plan, and if a postfilter or a mask changes the result (`has_postfilter_or_mask`); the content of `dest` is
/// undefined then.
#[inline(always)]
pub(crate) fn try_decompress_fast(
    chunk: &ParsedChunk<'_>,
    has_postfilter_or_mask: bool,
    dest: OutBuffer<'_>,
) -> Option<DecompressOutcome> {
    if has_postfilter_or_mask || !HAS_FAST_PATH.get() {
        return None;
    }
    let header = chunk.header();
    let len = header.nbytes();
    let mut dest = dest.get(0..len)?;
    if !header.is_coded() {
        // The threads callback is called for every chunk of several blocks.
        let is_one_part = header.blocksize >= header.nbytes || !pool::has_callback();
        let is_short = is_one_part && len <= MAX_UNCODED_NBYTES;
        return if is_short { read_uncoded(chunk, &(0..len), &mut dest).ok().flatten() } else { None };
    }
    let chunk = chunk.bytes();
    // Neither lazy, special, instrumented nor with a dictionary or blocks of variable length.
    let is_usual = header.is_extended()
        && header.version >= version::STABLE
        && header.blosc2_flags | header.blosc2_flags2 == 0;
    // One block, which is not a short last one.
    if !is_usual || len == 0 || header.blocksize != header.nbytes {
        return None;
    }
    let coding = BlockCoding::of(header);
    let codec = BuiltInCodec::from_format(header.codec_format())?;
    let first = EXTENDED_HEADER_LENGTH + 4;
    let start =
        usize::try_from(read_i32(chunk, EXTENDED_HEADER_LENGTH)?).ok().filter(|&start| start >= first)?;
    if coding == BlockCoding::General || usize::try_from(header.cbytes).ok()? > chunk.len() {
        return None;
    }
    let streams = chunk.get(start..)?;
    let typesize = usize::from(header.typesize);
    let nstreams = if header.is_split() { typesize } else { 1 };
    // SAFETY: decoders write each byte before they read it.
    let dest = unsafe { dest.into_bytes() };
    let mut borrowed = scratch::borrow_scratch().ok()?;
    let BlockScratch { front, workspace, .. } = &mut borrowed.scratch.block_scratch;
    let decoder = || codec.decoder(None);
    let decoded = if coding == BlockCoding::Direct {
        decode_block_streams(decoder, nstreams, streams, workspace, dest, len)
    } else {
        let front = front.get(len + DECODE_SLACK).ok()?;
        decode_shuffled_block(decoder, nstreams, streams, workspace, (coding, typesize), front, dest)
    };
    borrowed.release();
    decoded.ok()?;
    Some(DecompressOutcome { nbytes: len, used_dictionary: false })
}
