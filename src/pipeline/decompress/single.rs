//! The short way for chunks of one block whose streams a codec of the format made, shuffled, bitshuffled or neither: what
//! small buffers become; and for short chunks of zeros. Nothing is prepared for blocks, threads, dictionaries, callbacks or other filters that are not there.
//!
//! Never says what is wrong with a chunk: whatever is unusual, damage included, is left to the [`reader`](super::reader).

use super::super::scratch;
use super::Decompressed;
use super::streams::{decode_bitshuffled, decode_shuffled, decode_split};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MAX_FILTERS, filter_id, flag2, version};
use crate::chunk::{ChunkHeader, Special, read_i32};
use crate::codec::{BuiltIn, WRITE_AHEAD};

/// The Blosc2 flags of a chunk of zeros that is neither lazy nor anything else.
const ZEROS: u8 = Special::ZERO_ID << flag2::SPECIAL_SHIFT;
/// More zeros than this, in bytes, may be worth several threads.
const MOST_ZEROS: usize = 64 << 10;

/// Decompresses the chunk into `dest`, which may be longer than its content, for who has neither postfilter nor mask. `None` if
/// this is not the way to do it; the content of `dest` is undefined then.
#[inline(always)]
pub(crate) fn decompress_single(header: &ChunkHeader, chunk: &[u8], dest: &mut [u8]) -> Option<Decompressed> {
    let len = header.nbytes();
    let dest = dest.get_mut(..len)?;
    if header.blosc2_flags == ZEROS {
        return decompress_zeros(header, chunk, dest);
    }
    // Neither lazy, special, instrumented nor with a dictionary or blocks of variable length.
    let is_usual = header.is_extended()
        && header.version >= version::STABLE
        && header.blosc2_flags | header.blosc2_flags2 == 0
        && !header.is_memcpyed();
    // One block, which is not a short last one.
    if !is_usual || len == 0 || header.blocksize != header.nbytes {
        return None;
    }
    // In pieces no larger than those that the header was written in: larger ones have to wait for all of them.
    let [a, b, c, d, e, filter] = header.filters;
    let is_alone = u32::from_ne_bytes([a, b, c, d]) == 0 && e == 0;
    let is_known = match filter {
        filter_id::NONE | filter_id::BITSHUFFLE => true,
        filter_id::SHUFFLE => header.filters_meta[MAX_FILTERS - 1] == 0,
        _ => false,
    };
    if !is_alone || !is_known {
        return None;
    }
    let codec = BuiltIn::from_format(header.codec_format())?;
    let first = EXTENDED_HEADER_LENGTH + 4;
    let start =
        usize::try_from(read_i32(chunk, EXTENDED_HEADER_LENGTH)?).ok().filter(|&start| start >= first)?;
    if usize::try_from(header.cbytes).ok()? > chunk.len() {
        return None;
    }
    let streams = chunk.get(start..)?;
    let typesize = usize::from(header.typesize);
    let nstreams = if header.is_split() { typesize } else { 1 };
    let mut lent = scratch::lend();
    let (front, workspace) = lent.scratch.front(len + WRITE_AHEAD).ok()?;
    let decoder = || codec.decoder(None);
    let decoded = match filter {
        filter_id::SHUFFLE => decode_shuffled(decoder, (nstreams, typesize), streams, workspace, front, dest),
        filter_id::BITSHUFFLE => {
            decode_bitshuffled(decoder, (nstreams, typesize), streams, workspace, front, dest)
        }
        _ => decode_split(decoder, nstreams, streams, workspace, dest, len),
    };
    lent.give_back();
    decoded.ok()?;
    Some(Decompressed { nbytes: len, used_dictionary: false })
}

/// As [`decompress_single`], for a chunk with the flags [`ZEROS`].
fn decompress_zeros(header: &ChunkHeader, chunk: &[u8], dest: &mut [u8]) -> Option<Decompressed> {
    let is_usual = header.is_extended()
        && header.version >= version::STABLE
        && header.blosc2_flags2 == 0
        && !header.is_memcpyed()
        && usize::try_from(header.cbytes).is_ok_and(|cbytes| cbytes <= chunk.len());
    if !is_usual || dest.len() > MOST_ZEROS {
        return None;
    }
    dest.fill(0);
    Some(Decompressed { nbytes: dest.len(), used_dictionary: false })
}
