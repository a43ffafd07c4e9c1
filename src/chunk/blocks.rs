//! Block geometry (`chunk.md` 1.9): how a chunk of equal blocks is cut.

use super::ChunkHeader;
use std::ops::Range;

/// How `nbytes` bytes are cut into blocks of `blocksize` bytes, the last of which may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    nbytes: usize,
    blocksize: usize,
    count: usize,
    leftover: usize,
}

impl Blocks {
    /// The geometry of `nbytes` bytes in blocks of `blocksize` bytes, at least 1.
    pub(crate) fn new(nbytes: usize, blocksize: usize) -> Self {
        let blocksize = blocksize.max(1);
        let leftover = nbytes % blocksize;
        let count = nbytes / blocksize + usize::from(leftover != 0);
        Blocks { nbytes, blocksize, count, leftover }
    }

    /// The geometry that a parsed header of a chunk with equal blocks gives.
    pub(crate) fn of(header: &ChunkHeader) -> Self {
        Blocks::new(header.nbytes(), usize::try_from(header.blocksize).unwrap_or(1))
    }

    /// Uncompressed size of all, in bytes.
    pub(crate) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Size of a full block, in bytes.
    pub(crate) fn blocksize(&self) -> usize {
        self.blocksize
    }

    /// How many blocks there are; 0 when there are no bytes.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Size of the short last block in bytes, 0 if all are full.
    pub(crate) fn leftover(&self) -> usize {
        self.leftover
    }

    /// Where block `nblock` lies in the uncompressed data, in bytes.
    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        let start = nblock * self.blocksize;
        start..(start + self.blocksize).min(self.nbytes)
    }

    /// Whether block `nblock` is the short last one.
    pub(crate) fn is_leftover(&self, nblock: usize) -> bool {
        self.leftover != 0 && nblock + 1 == self.count
    }

    /// Number of streams of block `nblock` (`chunk.md` 1.12).
    pub(crate) fn nstreams(&self, nblock: usize, split: bool, typesize: usize) -> usize {
        if split && !self.is_leftover(nblock) { typesize } else { 1 }
    }

    /// Number of streams of the whole chunk (`chunk.md` 1.18).
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
                let b = Blocks::new(nbytes, blocksize);
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
