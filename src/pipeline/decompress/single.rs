//! Fast path for in-memory chunks of one block with at most one shuffle or bitshuffle, and for short chunks that are
//! plain or consist of zeros.
//!
//! Small buffers are compressed to these chunks (`cargo bench --bench side_by_side -- --group small`). The coding of
//! the block is that of the [class](crate::chunk::class); nothing is prepared for several blocks, threads,
//! dictionaries, callbacks or other filters. The fast path reports no errors: damaged chunks, and those of any other
//! kind, go to the [plan](super::plan).

use super::super::scratch::{self, BlockScratch};
use super::outcome::Decompressed;
use super::streams::{decode_bitshuffled, decode_shuffled, decode_split};
use crate::chunk::class::BlockCoding;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, flag2, version};
use crate::chunk::{ChunkHeader, Special, StoredChunk, read_i32};
use crate::codec::{BuiltIn, WRITE_AHEAD};
use crate::filter::copy::copy;
use crate::out_buffer::OutBuffer;
use crate::pool;

/// The Blosc2 flags of a chunk of zeros without any other flag.
const ZEROS: u8 = Special::ZERO_ID << flag2::SPECIAL_SHIFT;
/// Longest content, in bytes, that one thread fills or copies: longer ones may be worth several threads.
const MAX_UNCODED: usize = 64 << 10;

/// Decompresses the chunk into `dest`, which may be longer than its content. Returns `None` for a chunk that needs a
/// plan, and if a postfilter or a mask changes the result (`is_changed`); the content of `dest` is undefined then.
#[inline(always)]
pub(crate) fn decompress_single(
    chunk: &StoredChunk<'_>,
    is_changed: bool,
    dest: OutBuffer<'_>,
) -> Option<Decompressed> {
    if is_changed {
        return None;
    }
    let (header, chunk) = (chunk.header(), chunk.bytes());
    let len = header.nbytes();
    let dest = dest.get(0..len)?;
    if header.blosc2_flags == ZEROS || header.is_memcpyed() {
        return decompress_uncoded(header, chunk, dest);
    }
    // Neither lazy, special, instrumented nor with a dictionary or blocks of variable length.
    let is_usual = header.is_extended()
        && header.version >= version::STABLE
        && header.blosc2_flags | header.blosc2_flags2 == 0;
    // One block, which is not a short last one.
    if !is_usual || len == 0 || header.blocksize != header.nbytes {
        return None;
    }
    let coding = BlockCoding::of(header);
    let codec = BuiltIn::from_format(header.codec_format())?;
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
    let mut lent = scratch::lend();
    let BlockScratch { front, workspace, .. } = &mut lent.scratch.coding;
    let decoder = || codec.decoder(None);
    let decoded = match coding {
        BlockCoding::Shuffled { unit } => {
            let front = front.get(len + WRITE_AHEAD).ok()?;
            decode_shuffled(decoder, (nstreams, unit), streams, workspace, front, dest)
        }
        BlockCoding::Bitshuffled => {
            let front = front.get(len + WRITE_AHEAD).ok()?;
            decode_bitshuffled(decoder, (nstreams, typesize), streams, workspace, front, dest)
        }
        BlockCoding::Direct | BlockCoding::General => {
            decode_split(decoder, nstreams, streams, workspace, dest, len)
        }
    };
    lent.give_back();
    decoded.ok()?;
    Some(Decompressed { nbytes: len, used_dictionary: false })
}

/// Does the same as [`decompress_single`], for chunks of zeros and plain chunks.
fn decompress_uncoded(header: &ChunkHeader, chunk: &[u8], mut dest: OutBuffer<'_>) -> Option<Decompressed> {
    let len = dest.len();
    // The threads callback is called for every chunk of several blocks.
    if header.blocksize < header.nbytes && pool::has_callback() {
        return None;
    }
    let cbytes = usize::try_from(header.cbytes).ok()?;
    let is_usual = header.is_extended()
        && header.version >= version::STABLE
        && header.blosc2_flags2 == 0
        && len <= MAX_UNCODED;
    let stored = chunk.get(..cbytes).filter(|_| is_usual)?;
    match (header.blosc2_flags, header.is_memcpyed()) {
        (ZEROS, false) => dest.fill(0),
        (0, true) => {
            let content = stored.get(EXTENDED_HEADER_LENGTH..).filter(|content| content.len() == len)?;
            // SAFETY: all bytes are written, and none is read.
            copy(content, unsafe { dest.into_bytes() });
        }
        _ => return None,
    }
    Some(Decompressed { nbytes: len, used_dictionary: false })
}
