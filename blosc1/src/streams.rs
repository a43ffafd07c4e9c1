//! The lengths of the streams of a chunk (5): checked before blocks are decoded. Chunks of Blosc 1 have no runs, which
//! the decoder of Blosc2 would accept.

use crate::header::{CodeResult, DAMAGED_STREAM, DONT_SPLIT, FAILURE, HEADER_LEN, Header};
use blosc2_core::blosc1;
use blosc2_core::blosc1::layout::{MAX_SPLIT_TYPESIZE, MIN_SPLIT_ITEMS};
use std::ops::Range;

/// Length in bytes of a block start, and of the length of a stream.
const FIELD_LEN: usize = 4;

/// Checks that the streams of these blocks are inside the chunk, and not empty. The header is checked.
///
/// # Errors
/// -1 for a stream that is not inside the chunk, and for a block that begins inside the table of block starts; -2 for a
/// stream without bytes.
pub(crate) fn check_streams(chunk: &[u8], header: &Header, blocks: Range<usize>) -> CodeResult<()> {
    if header.is_memcpyed() {
        return Ok(());
    }
    blocks.into_iter().try_for_each(|nblock| check_block(chunk, header, nblock, |_| Ok(())))
}

/// Decodes the streams of these blocks one after the other, to find which error `blosc_getitem` of the reference returns:
/// the first one. The exception is a block that begins inside the table of block starts, which no writer makes and the
/// reference reads.
///
/// # Errors
/// As [`check_streams`]; also -2 for a stream that does not decode to its part of the block, and -1 without memory.
pub(crate) fn first_error(chunk: &[u8], header: &Header, blocks: Range<usize>) -> CodeResult<()> {
    if header.is_memcpyed() {
        return Ok(());
    }
    let format = header.codec_format();
    blocks.into_iter().try_for_each(|nblock| {
        let len = block_len(header, nblock) / nstreams(header, nblock);
        check_block(chunk, header, nblock, |stream| {
            if stream.len() == len {
                return Ok(());
            }
            match blosc1::is_valid_stream(format, stream, len) {
                Some(true) => Ok(()),
                Some(false) => Err(DAMAGED_STREAM),
                None => Err(FAILURE),
            }
        })
    })
}

/// Returns the blocks with bytes `bytes` of the content, which are inside it.
pub(crate) fn blocks_with(header: &Header, bytes: Range<usize>) -> Range<usize> {
    let blocksize = usize::try_from(header.blocksize).unwrap_or(0).max(1);
    bytes.start / blocksize..bytes.end.div_ceil(blocksize)
}

/// Checks the streams of a block, in their order: that they are inside the chunk and not empty, and whatever
/// `check_stream` checks.
fn check_block(
    chunk: &[u8],
    header: &Header,
    nblock: usize,
    check_stream: impl Fn(&[u8]) -> CodeResult<()>,
) -> CodeResult<()> {
    let mut at = usize::try_from(field(chunk, HEADER_LEN + FIELD_LEN * nblock)?).map_err(|_| FAILURE)?;
    if at < HEADER_LEN + FIELD_LEN * header.nblocks() {
        return Err(FAILURE);
    }
    for _ in 0..nstreams(header, nblock) {
        let len = usize::try_from(field(chunk, at)?).map_err(|_| FAILURE)?;
        if len == 0 {
            return Err(DAMAGED_STREAM);
        }
        at += FIELD_LEN;
        let stream = chunk[at..].get(..len).ok_or(FAILURE)?;
        check_stream(stream)?;
        at += len;
    }
    Ok(())
}

/// Returns the number of bytes of content in a block.
fn block_len(header: &Header, nblock: usize) -> usize {
    let start = nblock as i64 * i64::from(header.blocksize);
    let len = (i64::from(header.nbytes) - start).clamp(0, i64::from(header.blocksize));
    usize::try_from(len).unwrap_or(0)
}

/// Returns the number of streams that readers of Blosc 1 expect in a block.
fn nstreams(header: &Header, nblock: usize) -> usize {
    let typesize = i32::from(header.typesize);
    let is_short = block_len(header, nblock) < usize::try_from(header.blocksize).unwrap_or(0);
    let is_split = header.flags & DONT_SPLIT == 0
        && typesize <= MAX_SPLIT_TYPESIZE
        && header.blocksize / typesize >= MIN_SPLIT_ITEMS
        && !is_short;
    if is_split { usize::from(header.typesize) } else { 1 }
}

/// Returns the number at byte `at` of the chunk.
fn field(chunk: &[u8], at: usize) -> CodeResult<i32> {
    let bytes = chunk.get(at..).and_then(|rest| rest.first_chunk::<FIELD_LEN>()).ok_or(FAILURE)?;
    Ok(i32::from_le_bytes(*bytes))
}
