//! The effect of a change on the counters of a super-chunk, and the conditions under which it is rejected (`schunk.md`
//! 3.2, 3.3 and 10).
//!
//! Pure functions from counters and the header fields of a chunk to new counters.

use crate::error::{Result, err};
use crate::fallible;
use crate::frame::format::chunk_info::ChunkInfo;

/// The counters that a super-chunk shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    pub nchunks: i64,
    /// Uncompressed bytes of all chunks.
    pub nbytes: i64,
    /// Compressed bytes; each kind of storage counts them differently.
    pub cbytes: i64,
    /// Uncompressed size of a chunk in bytes; -1 before the first chunk, 0 for different sizes.
    pub chunksize: i32,
    /// The second flags byte of the chunks, which all of them share.
    pub flags2: u8,
}

/// The kind of storage, which determines how bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageKind {
    /// In memory, separate chunks.
    Memory,
    /// In a contiguous frame.
    Contiguous,
    /// In a directory.
    Sparse,
}

const VL_BLOCKS: u8 = crate::chunk::format::flag2::VL_BLOCKS;

/// Returns the number of compressed bytes that a new chunk adds.
fn added_cbytes(storage: StorageKind, chunk: &ChunkInfo) -> i64 {
    match (storage, chunk.special) {
        (StorageKind::Contiguous | StorageKind::Sparse, Some(_)) => 0,
        _ => i64::from(chunk.cbytes),
    }
}

/// Returns the number of compressed bytes of an old chunk that were counted: 0 for a chunk that is only a header (32
/// bytes).
pub(crate) fn counted_cbytes(chunk: &ChunkInfo) -> i64 {
    match chunk.cbytes {
        32 => 0,
        cbytes => i64::from(cbytes),
    }
}

/// Checks that a chunk can be stored with chunks whose flags are `flags2`.
pub(crate) fn check_same_block_kind(flags2: u8, chunk: &ChunkInfo) -> Result<()> {
    if (flags2 ^ chunk.flags2) & VL_BLOCKS != 0 {
        let new = chunk.flags2;
        return Err(err!(
            InvalidParam,
            "the second flags byte is {new:#04x}, expected the bit {VL_BLOCKS:#04x} as in {flags2:#04x}"
        ));
    }
    Ok(())
}

/// Checks the counters of a frame: readers find no chunks in a frame whose chunks are all empty.
pub(crate) fn check_frame_has_bytes(after: &Counters) -> Result<()> {
    if after.nchunks > 0 && after.nbytes == 0 {
        let count = after.nchunks;
        return Err(err!(
            InvalidParam,
            "the {count} chunks of the frame would have 0 bytes, expected 1 or more"
        ));
    }
    Ok(())
}

/// An order of chunks: each number from 0 to the number of chunks - 1 once.
pub(crate) struct Permutation<'a>(&'a [i64]);

impl<'a> Permutation<'a> {
    /// Checks an order.
    ///
    /// # Errors
    /// `Data` when it is not a permutation, `MemoryAlloc`.
    pub(crate) fn new(order: &'a [i64]) -> Result<Permutation<'a>> {
        let mut seen = fallible::filled(false, order.len())?;
        for &from in order {
            match usize::try_from(from).ok().and_then(|from| seen.get_mut(from)) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let len = order.len();
                    return Err(err!(Data, "`offsets_order` is not a permutation of {len} chunk numbers"));
                }
            }
        }
        Ok(Permutation(order))
    }

    pub(crate) fn as_slice(&self) -> &'a [i64] {
        self.0
    }
}

/// Returns the counters after inserting a chunk before chunk `at`, or at the end. `last` is the uncompressed size of
/// the last chunk in bytes; `None` without chunks.
///
/// # Errors
/// `InvalidParam` for a chunk that does not match the others; callers replace the code by that of their operation.
#[inline(always)]
pub(crate) fn counters_after_insert(
    before: &Counters,
    storage: StorageKind,
    at: i64,
    chunk: &ChunkInfo,
    last: Option<i32>,
) -> Result<Counters> {
    let mut after = *before;
    match last {
        Some(_) => check_same_block_kind(before.flags2, chunk)?,
        None => after.flags2 = chunk.flags2,
    }
    if after.chunksize == -1 {
        after.chunksize = chunk.nbytes;
    }
    let size = after.chunksize;
    if size > 0 {
        match last {
            Some(last) => {
                let in_between = at != before.nchunks && chunk.nbytes != size;
                if last < size || chunk.nbytes > size || in_between {
                    after.chunksize = 0;
                }
            }
            None if chunk.nbytes > size => {
                return Err(err!(
                    InvalidParam,
                    "the chunk has {} uncompressed bytes, expected at most {size}",
                    chunk.nbytes
                ));
            }
            None => {}
        }
    }
    // The header of a frame does not define the number of chunks if all of them are shorter than the chunk size.
    let is_frame = storage != StorageKind::Memory;
    if is_frame
        && before.chunksize > 0
        && chunk.nbytes < before.chunksize
        && last.is_some_and(|last| last < before.chunksize)
        && before.nbytes < i64::from(before.chunksize)
        && at == before.nchunks
    {
        return Err(err!(
            InvalidParam,
            "the chunk has {} bytes, expected {} because the last chunk is short",
            chunk.nbytes,
            before.chunksize
        ));
    }
    after.nchunks += 1;
    after.nbytes = checked_sum(after.nbytes, i64::from(chunk.nbytes))?;
    after.cbytes = checked_sum(after.cbytes, added_cbytes(storage, chunk))?;
    Ok(after)
}

/// Returns the counters after replacing chunk `at`.
///
/// # Errors
/// `InvalidParam` for counters that overflow.
#[inline(always)]
pub(crate) fn counters_after_update(
    before: &Counters,
    storage: StorageKind,
    at: i64,
    chunk: &ChunkInfo,
    old: &ChunkInfo,
) -> Result<Counters> {
    let mut after = *before;
    if before.nchunks == 1 {
        after.flags2 = chunk.flags2;
    }
    if after.chunksize == -1 {
        after.chunksize = chunk.nbytes;
    }
    let size = after.chunksize;
    if size != 0 && (chunk.nbytes > size || (at != before.nchunks - 1 && chunk.nbytes != size)) {
        after.chunksize = 0;
    }
    after.nbytes = checked_sum(after.nbytes, i64::from(chunk.nbytes) - i64::from(old.nbytes))?;
    after.cbytes = checked_sum(after.cbytes, added_cbytes(storage, chunk) - counted_cbytes(old))?;
    Ok(after)
}

/// Returns the counters after deleting a chunk.
///
/// # Errors
/// `InvalidParam` for counters that overflow.
#[inline(always)]
pub(crate) fn counters_after_delete(
    before: &Counters,
    storage: StorageKind,
    old: &ChunkInfo,
) -> Result<Counters> {
    let mut after = *before;
    after.nchunks -= 1;
    if after.nchunks == 0 {
        after.flags2 = 0;
    }
    after.nbytes = checked_sum(after.nbytes, -i64::from(old.nbytes))?;
    if storage != StorageKind::Contiguous {
        after.cbytes = checked_sum(after.cbytes, -counted_cbytes(old))?;
    }
    Ok(after)
}

/// Adds to a counter, which may have been read from a frame, with a check for overflow.
#[inline]
pub(super) fn checked_sum(counter: i64, more: i64) -> Result<i64> {
    counter.checked_add(more).ok_or_else(|| err!(InvalidParam, "the sum of {counter} and {more} overflows"))
}
