//! What a change does to the counters of a super-chunk, and when it is refused (`schunk.md` 3.2, 3.3 and 10).
//!
//! Pure: counters and the facts of a chunk in, counters out.

use crate::err;
use crate::error::Result;
use crate::frame::fetch::ChunkInfo;

/// The counters that a super-chunk shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Number of chunks.
    pub nchunks: i64,
    /// Uncompressed bytes of all chunks.
    pub nbytes: i64,
    /// Compressed bytes, as each kind of storage counts them.
    pub cbytes: i64,
    /// Uncompressed bytes of a chunk; -1 before the first, 0 for different sizes.
    pub chunksize: i32,
    /// The second flags byte that all chunks share.
    pub flags2: u8,
}

/// How chunks are stored, as far as counting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// In memory, each on its own.
    Memory,
    /// In a contiguous frame.
    Contiguous,
    /// In a directory.
    Directory,
}

const VL_BLOCKS: u8 = crate::chunk::format::flag2::VL_BLOCKS;

/// Bytes that a chunk adds.
fn added(keeping: Keeping, chunk: &ChunkInfo) -> i64 {
    match (keeping, chunk.special) {
        (Keeping::Contiguous | Keeping::Directory, Some(_)) => 0,
        _ => i64::from(chunk.cbytes),
    }
}

/// Bytes that a chunk counted for: none if it was but a header.
pub(crate) fn counted(chunk: &ChunkInfo) -> i64 {
    match chunk.cbytes {
        32 => 0,
        cbytes => i64::from(cbytes),
    }
}

/// Sees that a chunk goes with those whose flags are `flags2`.
///
/// # Errors
/// `InvalidParam` when the one has blocks of equal and the other of variable length.
pub(crate) fn check_mix(flags2: u8, chunk: &ChunkInfo) -> Result<()> {
    if (flags2 ^ chunk.flags2) & VL_BLOCKS != 0 {
        return Err(err!(InvalidParam, "chunks with blocks of equal and of variable length do not mix"));
    }
    Ok(())
}

/// An order of chunks: each number from 0 on once.
pub(crate) struct Permutation<'a>(&'a [i64]);

impl<'a> Permutation<'a> {
    /// Checks an order.
    ///
    /// # Errors
    /// `Data` when it is no permutation, `MemoryAlloc`.
    pub(crate) fn new(order: &'a [i64]) -> Result<Permutation<'a>> {
        let mut seen = Vec::new();
        seen.try_reserve_exact(order.len()).map_err(|_| err!(MemoryAlloc, "{} chunks", order.len()))?;
        seen.resize(order.len(), false);
        for &from in order {
            match usize::try_from(from).ok().and_then(|from| seen.get_mut(from)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(err!(Data, "the order is no permutation of {} chunks", order.len())),
            }
        }
        Ok(Permutation(order))
    }

    /// Returns the numbers.
    pub(crate) fn as_slice(&self) -> &'a [i64] {
        self.0
    }
}

/// The counters with one chunk more, before the chunk that is `at` now, or at the end. `last` is the last chunk's
/// uncompressed size, if there is one.
///
/// # Errors
/// `InvalidParam` for a chunk that can be of no use; callers turn it into the code of their operation.
#[inline(always)]
pub(crate) fn insert(
    before: &Counters,
    keeping: Keeping,
    at: i64,
    chunk: &ChunkInfo,
    last: Option<i32>,
) -> Result<Counters> {
    let mut after = *before;
    match last {
        Some(_) => check_mix(before.flags2, chunk)?,
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
                return Err(err!(InvalidParam, "a chunk of {} bytes where {size} fit", chunk.nbytes));
            }
            None => {}
        }
    }
    // A frame that holds one short chunk cannot tell how many it has.
    let is_frame = keeping != Keeping::Memory;
    if is_frame
        && before.chunksize > 0
        && chunk.nbytes < before.chunksize
        && last.is_some_and(|last| last < before.chunksize)
        && before.nbytes < i64::from(before.chunksize)
        && at == before.nchunks
    {
        return Err(err!(InvalidParam, "a second short chunk, of {} bytes", chunk.nbytes));
    }
    after.nchunks += 1;
    after.nbytes = sum(after.nbytes, i64::from(chunk.nbytes))?;
    after.cbytes = sum(after.cbytes, added(keeping, chunk))?;
    Ok(after)
}

/// The counters with another chunk in the place of chunk `at`.
///
/// # Errors
/// `InvalidParam` for counters that make no sense.
#[inline(always)]
pub(crate) fn update(
    before: &Counters,
    keeping: Keeping,
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
    after.nbytes = sum(after.nbytes, i64::from(chunk.nbytes) - i64::from(old.nbytes))?;
    after.cbytes = sum(after.cbytes, added(keeping, chunk) - counted(old))?;
    Ok(after)
}

/// The counters with one chunk less.
///
/// # Errors
/// `InvalidParam` for counters that make no sense.
pub(crate) fn delete(before: &Counters, keeping: Keeping, old: &ChunkInfo) -> Result<Counters> {
    let mut after = *before;
    after.nchunks -= 1;
    if after.nchunks == 0 {
        after.flags2 = 0;
    }
    after.nbytes = sum(after.nbytes, -i64::from(old.nbytes))?;
    if keeping != Keeping::Contiguous {
        after.cbytes = sum(after.cbytes, -counted(old))?;
    }
    Ok(after)
}

/// A counter that a frame may have told, and what comes to it.
pub(super) fn sum(counter: i64, more: i64) -> Result<i64> {
    counter.checked_add(more).ok_or_else(|| err!(InvalidParam, "{counter} bytes and {more}"))
}
