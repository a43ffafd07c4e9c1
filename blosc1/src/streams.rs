//! The lengths of the streams of a chunk (5): checked before blocks are decoded. Chunks of Blosc 1 have no runs, which
//! the decoder of Blosc2 would accept.

use crate::header::{CodeResult, DAMAGED_STREAM, FAILURE, HEADER_LEN, Header};
use crate::layout::{MAX_SPLIT_TYPESIZE, MIN_SPLIT_ITEMS};
use std::ops::Range;

/// Flags bit 4: blocks are not split into streams.
const DONT_SPLIT: u8 = 0x10;
/// Length in bytes of a block start, and of the length of a stream.
const FIELD_LEN: usize = 4;

/// Checks that the streams of these blocks are inside the chunk, and not empty. The header is checked.
///
/// # Errors
/// -1; -2 for a stream without bytes, which no codec writes.
pub(crate) fn check_streams(chunk: &[u8], header: &Header, blocks: Range<usize>) -> CodeResult<()> {
    if header.is_memcpyed() {
        return Ok(());
    }
    blocks.into_iter().try_for_each(|nblock| check_block(chunk, header, nblock))
}

/// Returns the blocks with bytes `bytes` of the content, which are inside it.
pub(crate) fn blocks_with(header: &Header, bytes: Range<usize>) -> Range<usize> {
    let blocksize = usize::try_from(header.blocksize).unwrap_or(0).max(1);
    bytes.start / blocksize..bytes.end.div_ceil(blocksize)
}

fn check_block(chunk: &[u8], header: &Header, nblock: usize) -> CodeResult<()> {
    let start = usize::try_from(field(chunk, HEADER_LEN + FIELD_LEN * nblock)?).map_err(|_| FAILURE)?;
    let mut at = start;
    for _ in 0..nstreams(header, nblock) {
        let len = usize::try_from(field(chunk, at)?).map_err(|_| FAILURE)?;
        if len == 0 {
            return Err(DAMAGED_STREAM);
        }
        at += FIELD_LEN;
        if len > chunk.len() - at {
            return Err(FAILURE);
        }
        at += len;
    }
    Ok(())
}

/// Returns the number of streams that readers of Blosc 1 expect in a block.
fn nstreams(header: &Header, nblock: usize) -> usize {
    let typesize = i32::from(header.typesize);
    let end = (nblock as i64 + 1) * i64::from(header.blocksize);
    let is_short = end > i64::from(header.nbytes);
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
