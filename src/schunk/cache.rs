//! A cache of the last decoded block, so that adjacent small reads only copy bytes.
//!
//! Holds one block per super-chunk, of at most [`MAX_CACHED_BLOCK`] bytes; every change and every refresh discards it.
//! A read in another [generation](ChunkState::generation) does not hit. Reads with a postfilter do not use the cache.

use crate::buffers::limits::MAX_CACHED_BLOCK;
use crate::out_buffer::OutBuffer;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChunkState {
    /// Number of the state: [`FrameStatus::generation`](crate::frame::store::status::FrameStatus::generation), 0 without a
    /// frame.
    pub generation: u64,
    pub nchunk: i64,
}

#[derive(Default)]
pub(crate) struct BlockCache {
    /// The chunk to which the block belongs; `None` without a block.
    chunk: Option<ChunkState>,
    /// Offset of the block in the chunk, in bytes.
    start: usize,
    bytes: Vec<u8>,
    /// The chunk's item size.
    typesize: u8,
    /// Numbers of the chunk and the block of the last partial read.
    last_partial_read: Option<(i64, usize)>,
}

impl BlockCache {
    /// Discards the block; its memory is kept for the next one.
    pub(crate) fn clear(&mut self) {
        self.chunk = None;
    }

    /// Copies `dest.len()` bytes from byte `start` of a chunk on, if all of them are in the block. Returns the chunk's
    /// item size; `None` for a miss.
    pub(crate) fn get(&self, chunk: ChunkState, start: usize, dest: &mut OutBuffer<'_>) -> Option<u8> {
        let (bytes, typesize) = self.get_ref(chunk, start, dest.len())?;
        dest.copy_from_slice(bytes);
        Some(typesize)
    }

    /// Returns `len` bytes of a chunk from byte `start` on, if all of them are in the block, and the chunk's item size;
    /// `None` for a miss.
    #[inline]
    pub(crate) fn get_ref(&self, chunk: ChunkState, start: usize, len: usize) -> Option<(&[u8], u8)> {
        if self.chunk != Some(chunk) {
            return None;
        }
        let at = start.checked_sub(self.start)?;
        Some((self.bytes.get(at..)?.get(..len)?, self.typesize))
    }

    /// Records a partial read of a block. Returns whether the previous one was of the same block, so that caching it is
    /// worthwhile.
    pub(crate) fn record_partial_read(&mut self, nchunk: i64, nblock: usize) -> bool {
        self.last_partial_read.replace((nchunk, nblock)) == Some((nchunk, nblock))
    }

    /// Discards the block and returns memory for another one of `len` bytes, which [`finish_fill`](Self::finish_fill)
    /// makes valid; `None` for a block that is too large, or without memory.
    pub(crate) fn begin_fill(&mut self, len: usize) -> Option<&mut [u8]> {
        self.chunk = None;
        if len > MAX_CACHED_BLOCK {
            return None;
        }
        if self.bytes.len() < len {
            self.bytes.try_reserve_exact(len - self.bytes.len()).ok()?;
        }
        self.bytes.resize(len, 0);
        Some(&mut self.bytes)
    }

    /// Makes the bytes that were written into the memory from [`begin_fill`](Self::begin_fill) the cached block.
    pub(crate) fn finish_fill(&mut self, chunk: ChunkState, start: usize, typesize: u8) {
        self.chunk = Some(chunk);
        self.start = start;
        self.typesize = typesize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn chunk(nchunk: i64) -> ChunkState {
        ChunkState { generation: 3, nchunk }
    }

    fn get(last: &BlockCache, nchunk: i64, start: usize, dest: &mut [u8]) -> Option<u8> {
        last.get(chunk(nchunk), start, &mut dest.into())
    }

    #[test]
    fn only_the_cached_bytes_of_the_same_chunk_state_hit() {
        let mut last = BlockCache::default();
        let mut dest = [0; 2];
        assert_eq!(get(&last, 0, 0, &mut dest), None);
        last.begin_fill(4).unwrap().copy_from_slice(b"abcd");
        assert_eq!(get(&last, 7, 100, &mut dest), None);
        last.finish_fill(chunk(7), 100, 2);
        assert_eq!((get(&last, 7, 102, &mut dest), &dest), (Some(2), b"cd"));
        for (nchunk, start) in [(7, 103), (7, 99), (6, 100), (7, usize::MAX)] {
            assert_eq!(get(&last, nchunk, start, &mut dest), None);
        }
        let later = ChunkState { generation: 4, nchunk: 7 };
        assert_eq!(last.get(later, 102, &mut (&mut dest[..]).into()), None);
        last.clear();
        assert_eq!(get(&last, 7, 102, &mut dest), None);
        assert!(last.begin_fill(MAX_CACHED_BLOCK + 1).is_none());
    }
}
