//! Block geometry (`chunk.md` 1.9): the division of a chunk into blocks of equal size.

use super::ChunkHeader;
use std::ops::Range;

/// The division of `nbytes` bytes into blocks of `blocksize` bytes; the last block may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockGeometry {
    nbytes: usize,
    blocksize: usize,
    count: usize,
    leftover: usize,
}

impl BlockGeometry {
    /// Returns the geometry of `nbytes` bytes in blocks of `blocksize` bytes; a `blocksize` of 0 counts as 1.
    pub(crate) fn new(nbytes: usize, blocksize: usize) -> Self {
        let blocksize = blocksize.max(1);
        let leftover = nbytes % blocksize;
        let count = nbytes / blocksize + usize::from(leftover != 0);
        BlockGeometry { nbytes, blocksize, count, leftover }
    }

    /// Returns the geometry of a chunk of blocks of equal size, from its parsed header.
    pub(crate) fn of(header: &ChunkHeader) -> Self {
        BlockGeometry::new(header.nbytes(), usize::try_from(header.blocksize).unwrap_or(1))
    }

    /// Returns the uncompressed size of all blocks in bytes.
    pub(crate) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Returns the size of a full block in bytes.
    pub(crate) fn blocksize(&self) -> usize {
        self.blocksize
    }

    /// Returns the number of blocks; 0 for no bytes.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the size of the short last block in bytes; 0 if all blocks are full.
    pub(crate) fn leftover(&self) -> usize {
        self.leftover
    }

    /// Returns the byte range of block `nblock` in the uncompressed data.
    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        let start = nblock * self.blocksize;
        start..(start + self.blocksize).min(self.nbytes)
    }

    /// Returns whether block `nblock` is the short last block.
    pub(crate) fn is_leftover(&self, nblock: usize) -> bool {
        self.leftover != 0 && nblock + 1 == self.count
    }

    /// Returns the number of streams of block `nblock` (`chunk.md` 1.12).
    pub(crate) fn nstreams(&self, nblock: usize, split: bool, typesize: usize) -> usize {
        if split && !self.is_leftover(nblock) { typesize } else { 1 }
    }

    /// Returns the number of streams of the whole chunk (`chunk.md` 1.18).
    pub(crate) fn total_streams(&self, split: bool, typesize: usize) -> usize {
        if !split {
            return self.count();
        }
        let short = usize::from(self.leftover() != 0);
        (self.count() - short) * typesize + short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_bytes_once() {
        for nbytes in 0..50 {
            for blocksize in 1..20 {
                let b = BlockGeometry::new(nbytes, blocksize);
                let mut at = 0;
                for n in 0..b.count() {
                    assert_eq!(b.range(n).start, at);
                    at = b.range(n).end;
                    assert_eq!(b.range(n).len() < blocksize, b.is_leftover(n));
                }
                assert_eq!(at, nbytes);
                let streams: usize = (0..b.count()).map(|n| b.nstreams(n, true, 4)).sum();
                assert_eq!(streams, b.total_streams(true, 4));
            }
        }
    }
}
