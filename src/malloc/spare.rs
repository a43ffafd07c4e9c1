//! Blocks that were freed and wait to be used again.
//!
//! Memory that the system has just given costs more than copying a chunk there: each page of it is cleared and mapped at its
//! first use. Whether an allocator gives a block of this size back to the system when it is freed depends on what else the
//! program has done. So some blocks of chunks that are gone are kept here, for the chunks that come next.

use super::limits::FREED;
use std::ptr::NonNull;
use std::sync::Mutex;

/// Bytes of the smallest block that is kept; an allocator serves smaller ones well.
const SMALLEST: usize = 64 << 10;
/// A block is used again if no more than one part in so many is left over.
const LEFTOVER: usize = 8;

static SPARE: Mutex<Spare> = Mutex::new(Spare { blocks: Vec::new(), nbytes: 0, clock: 0 });

/// A block that nobody uses.
struct Block {
    start: NonNull<u8>,
    /// Bytes.
    capacity: usize,
    /// When it came.
    since: u64,
}

// SAFETY: nobody else knows the block.
unsafe impl Send for Block {}

impl Block {
    fn free(self) {
        // SAFETY: a `malloc` block that is ours alone.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}

/// The blocks, by capacity.
struct Spare {
    blocks: Vec<Block>,
    /// The sum of their capacities.
    nbytes: usize,
    clock: u64,
}

impl Spare {
    /// The smallest block of at least `len` bytes, if it is not much larger.
    fn take(&mut self, len: usize) -> Option<Block> {
        let at = self.blocks.partition_point(|block| block.capacity < len);
        if self.blocks.get(at)?.capacity - len > len / LEFTOVER {
            return None;
        }
        let block = self.blocks.remove(at);
        self.nbytes -= block.capacity;
        Some(block)
    }

    /// Keeps a block, and frees those that have waited longest if it is too much then.
    fn give(&mut self, start: NonNull<u8>, capacity: usize) {
        self.clock += 1;
        let block = Block { start, capacity, since: self.clock };
        if capacity > FREED || self.blocks.try_reserve(1).is_err() {
            return block.free();
        }
        let at = self.blocks.partition_point(|other| other.capacity < capacity);
        self.blocks.insert(at, block);
        self.nbytes += capacity;
        while self.nbytes > FREED {
            let oldest = (0..self.blocks.len()).min_by_key(|&at| self.blocks[at].since);
            let Some(oldest) = oldest.map(|at| self.blocks.remove(at)) else { break };
            self.nbytes -= oldest.capacity;
            oldest.free();
        }
    }
}

/// A `malloc` block of at least `len` bytes, with unspecified content, if one waits; never waits for another thread, which
/// may have been lost by a `fork`.
pub(super) fn take(len: usize) -> Option<NonNull<u8>> {
    if len < SMALLEST {
        return None;
    }
    SPARE.try_lock().ok()?.take(len).map(|block| block.start)
}

/// Frees a block of at least `capacity` bytes, or keeps it for [`take`].
///
/// How large the block is, nobody is asked: allocators that programs bring along do not all have an answer.
///
/// # Safety
/// `start` is a `malloc` block of that many bytes or more, which nobody uses or frees any more.
pub(crate) unsafe fn give(start: NonNull<u8>, capacity: usize) {
    if capacity >= SMALLEST
        && let Ok(mut spare) = SPARE.try_lock()
    {
        return spare.give(start, capacity);
    }
    // SAFETY: the caller's promise.
    unsafe { libc::free(start.as_ptr().cast()) }
}

/// Frees all blocks that wait.
pub(crate) fn clear() {
    if let Ok(mut spare) = SPARE.try_lock() {
        spare.nbytes = 0;
        spare.blocks.drain(..).for_each(Block::free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block with an invented capacity.
    fn block(spare: &mut Spare, capacity: usize) -> NonNull<u8> {
        // SAFETY: any length may be asked for.
        let start = NonNull::new(unsafe { libc::malloc(1) }.cast()).unwrap();
        spare.give(start, capacity);
        start
    }

    fn capacities(spare: &Spare) -> Vec<usize> {
        assert_eq!(spare.nbytes, spare.blocks.iter().map(|block| block.capacity).sum::<usize>());
        spare.blocks.iter().map(|block| block.capacity).collect()
    }

    #[test]
    fn the_smallest_that_suffices_is_taken_if_little_is_left_over() {
        let mut spare = Spare { blocks: Vec::new(), nbytes: 0, clock: 0 };
        for capacity in [120_000, 80_000, 100_000] {
            block(&mut spare, capacity);
        }
        assert_eq!(capacities(&spare), [80_000, 100_000, 120_000]);
        assert!(spare.take(71_000).is_none(), "an eighth of 71 000 is less than 9 000");
        assert!(spare.take(120_001).is_none());
        for (len, capacity) in [(90_000, 100_000), (80_000, 80_000), (119_999, 120_000)] {
            let taken = spare.take(len).unwrap();
            assert_eq!(taken.capacity, capacity);
            taken.free();
        }
        assert!(capacities(&spare).is_empty());
    }

    #[test]
    fn too_much_frees_the_oldest() {
        let mut spare = Spare { blocks: Vec::new(), nbytes: 0, clock: 0 };
        for capacity in [FREED / 2, FREED / 4, FREED / 8] {
            block(&mut spare, capacity);
        }
        block(&mut spare, FREED + 1);
        assert_eq!(capacities(&spare), [FREED / 8, FREED / 4, FREED / 2]);
        block(&mut spare, FREED / 4);
        assert_eq!(capacities(&spare), [FREED / 8, FREED / 4, FREED / 4]);
        block(&mut spare, FREED);
        assert_eq!(capacities(&spare), [FREED]);
        spare.blocks.drain(..).for_each(Block::free);
    }

    #[test]
    fn blocks_are_as_large_as_asked_for() {
        for len in [0, 1, SMALLEST - 1, SMALLEST, 3 * SMALLEST + 5] {
            let bytes = vec![7; len];
            for _ in 0..3 {
                let copy = super::super::Malloced::copy_of(&bytes).unwrap();
                assert!(*copy == bytes);
                let start = NonNull::new(copy.into_raw()).unwrap();
                // SAFETY: a block of that length that nobody else has.
                unsafe { give(start, len) }
            }
        }
        clear();
    }
}
