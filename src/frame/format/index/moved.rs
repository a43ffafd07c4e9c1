//! An index chunk whose blocks do not follow its header directly (`frame.md` 2.13): atomic changes of a directory write
//! the blocks to two places in turn, and the block starts refer to one of them. The chunk is valid for every reader.

#![forbid(unsafe_code)]

use crate::chunk::format::offset;
use crate::chunk::{BlockGeometry, ChunkHeader, read_i32, write_i32};
use crate::error::{Result, err};

/// The length of a block start, in bytes.
const START_LEN: usize = 4;

/// Returns the length, in bytes, of the part that must be at the start of an index chunk: its header and block starts, or
/// all of it if it has no blocks.
pub(in crate::frame) fn head_len(header: &ChunkHeader) -> usize {
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    if !header.is_coded() {
        return cbytes;
    }
    let blocksize = usize::try_from(header.blocksize).unwrap_or(0).max(1);
    let blocks = BlockGeometry::new(header.nbytes(), blocksize).count();
    header.len().saturating_add(blocks.saturating_mul(START_LEN)).min(cbytes)
}

/// Returns how many bytes further behind the blocks begin than in a chunk without a gap. `head` is the start of an index
/// chunk, of [`head_len`] bytes.
pub(in crate::frame) fn gap_before_blocks(header: &ChunkHeader, head: &[u8]) -> Result<usize> {
    if !header.is_coded() {
        return Ok(0);
    }
    let (first, cbytes) = (read_i32(head, header.len()).unwrap_or(0), header.cbytes);
    let gap = usize::try_from(first).ok().and_then(|first| first.checked_sub(head.len()));
    gap.filter(|_| first <= cbytes).ok_or_else(|| {
        let head = head.len();
        err!(Data, "the first block of the index begins at {first}, expected {head} to {cbytes}")
    })
}

/// Moves the blocks of an index chunk `by` bytes to the back: changes its length and its block starts. `head` is the start
/// of the chunk, of [`head_len`] bytes.
pub(in crate::frame) fn move_blocks(header: &ChunkHeader, head: &mut [u8], by: i32) {
    if !header.is_coded() {
        return;
    }
    let starts = (header.len()..head.len()).step_by(START_LEN);
    for at in std::iter::once(offset::CBYTES).chain(starts) {
        if let Some(value) = read_i32(head, at) {
            write_i32(head, at, value.wrapping_add(by));
        }
    }
}
