//! The short way for chunks of one block whose streams a codec of the format made, shuffled or not: what small buffers
//! become. Nothing is prepared for blocks, threads, dictionaries, callbacks or other filters that are not there.
//!
//! Never says what is wrong with a chunk: whatever is unusual, damage included, is left to the [`reader`](super::reader).

use super::super::scratch;
use super::Decompressed;
use super::reader::{decode_shuffled, decode_split};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MAX_FILTERS, filter_id, version};
use crate::chunk::{ChunkHeader, read_i32};
use crate::codec::{BuiltIn, WRITE_AHEAD};

/// Decompresses the chunk into `dest`, which may be longer than its content, for who has neither postfilter nor mask. `None` if
/// this is not the way to do it; the content of `dest` is undefined then.
#[inline]
pub fn decompress_single(header: &ChunkHeader, chunk: &[u8], dest: &mut [u8]) -> Option<Decompressed> {
    let len = header.nbytes();
    let dest = dest.get_mut(..len)?;
    // Neither lazy, special, instrumented nor with a dictionary or blocks of variable length.
    let is_usual = header.is_extended()
        && header.version >= version::STABLE
        && header.blosc2_flags == 0
        && header.blosc2_flags2 == 0
        && !header.is_memcpyed();
    // One block, which is not a short last one.
    if !is_usual || len == 0 || header.blocksize != header.nbytes {
        return None;
    }
    let [others @ .., last] = header.filters;
    let is_shuffled = match (others, last, header.filters_meta[MAX_FILTERS - 1]) {
        ([0, 0, 0, 0, 0], filter_id::NONE, _) => false,
        ([0, 0, 0, 0, 0], filter_id::SHUFFLE, 0) => true,
        _ => return None,
    };
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
    scratch::with(|scratch| {
        let (front, workspace) = scratch.front(len + WRITE_AHEAD).ok()?;
        let decoder = || codec.decoder(None);
        if is_shuffled {
            decode_shuffled(decoder, (nstreams, typesize), streams, workspace, front, dest).ok()
        } else {
            decode_split(decoder, nstreams, streams, workspace, dest, len).ok()
        }
    })?;
    Some(Decompressed { nbytes: len, used_dictionary: false })
}
