//! A list of idle blocks with a budget.

use super::block::Block;

/// Upper limit for the number of blocks in a list, so that searching it stays cheap.
const MAX_BLOCKS: usize = 64;

/// Bytes that may be left over of a block that is taken without a search.
const NEAR: usize = 64 << 10;

/// Idle blocks, in the order in which they came.
pub(super) struct IdleList {
    blocks: Vec<Block>,
    /// The sum of their capacities.
    nbytes: usize,
    /// Upper limit for `nbytes`.
    budget: usize,
}

impl IdleList {
    /// An empty list.
    pub(super) const fn new(budget: usize) -> IdleList {
        IdleList { blocks: Vec::new(), nbytes: 0, budget }
    }

    /// Bytes of all blocks.
    #[cfg(test)]
    pub(super) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Takes a block of at least `len` bytes of which at most `max_left` bytes are left over: the last one that came if little is
    /// left over, else the smallest. `None` if there is none.
    #[inline]
    pub(super) fn take(&mut self, len: usize, max_left: usize) -> Option<Block> {
        // Mostly the block that came last is as long as the next one that is wanted; any block serves for short lengths.
        if let Some(last) = self.blocks.last()
            && last.capacity() >= len
            && last.capacity() - len <= max_left.min(NEAR)
        {
            self.nbytes -= last.capacity();
            return self.blocks.pop();
        }
        self.search(len, max_left)
    }

    /// As [`take`](Self::take), among all blocks.
    #[inline(never)]
    fn search(&mut self, len: usize, max_left: usize) -> Option<Block> {
        let (mut found, mut smallest) = (None, len.saturating_add(max_left));
        for (at, block) in self.blocks.iter().enumerate() {
            if (len..=smallest).contains(&block.capacity()) {
                (found, smallest) = (Some(at), block.capacity());
            }
        }
        let block = self.blocks.remove(found?);
        self.nbytes -= block.capacity();
        Some(block)
    }

    /// Adds a block, and frees those that came first as far as the budget or the number of blocks is exceeded.
    #[inline]
    pub(super) fn put(&mut self, block: Block) {
        let has_room =
            self.blocks.len() < self.blocks.capacity() || self.blocks.try_reserve(MAX_BLOCKS).is_ok();
        if block.capacity() > self.budget || !has_room {
            return;
        }
        self.nbytes += block.capacity();
        self.blocks.push(block);
        if self.nbytes > self.budget || self.blocks.len() > MAX_BLOCKS {
            self.shrink(self.budget);
        }
    }

    /// Takes blocks out, those that came first before the others, until at most `keep` bytes and [`MAX_BLOCKS`] are left.
    #[cold]
    pub(super) fn shrink(&mut self, keep: usize) -> Vec<Block> {
        let (mut count, mut left) = (0, self.nbytes);
        while left > keep || self.blocks.len() - count > MAX_BLOCKS {
            left -= self.blocks[count].capacity();
            count += 1;
        }
        self.nbytes = left;
        self.blocks.drain(..count).collect()
    }

    /// Takes all blocks out.
    pub(super) fn drain(&mut self) -> Vec<Block> {
        self.nbytes = 0;
        std::mem::take(&mut self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(budget: usize, capacities: &[usize]) -> IdleList {
        let mut list = IdleList::new(budget);
        capacities.iter().for_each(|&capacity| list.put(Block::zeroed(capacity).unwrap()));
        list
    }

    fn capacities(list: &IdleList) -> Vec<usize> {
        let capacities: Vec<usize> = list.blocks.iter().map(Block::capacity).collect();
        assert_eq!(list.nbytes, capacities.iter().sum::<usize>());
        capacities
    }

    #[test]
    fn the_smallest_that_suffices_is_taken_if_little_is_left_over() {
        let mut list = list(1 << 30, &[120_000, 80_000, 100_000, 200_000]);
        assert!(list.take(70_000, 9_999).is_none());
        assert!(list.take(200_001, usize::MAX).is_none());
        for (len, capacity) in [(90_000, 100_000), (1, 80_000), (150_000, 200_000), (5, 120_000)] {
            assert_eq!(list.take(len, usize::MAX).unwrap().capacity(), capacity);
        }
        assert!(capacities(&list).is_empty());
    }

    #[test]
    fn too_much_frees_what_came_first() {
        let mut list = list(1000, &[500, 250, 125]);
        list.put(Block::zeroed(1001).unwrap());
        assert_eq!(capacities(&list), [500, 250, 125]);
        list.put(Block::zeroed(250).unwrap());
        assert_eq!(capacities(&list), [250, 125, 250]);
        list.put(Block::zeroed(1000).unwrap());
        assert_eq!(capacities(&list), [1000]);
        assert_eq!(list.shrink(1000).len(), 0);
        assert_eq!(list.shrink(999).len(), 1);
        for _ in 0..2 * MAX_BLOCKS {
            list.put(Block::zeroed(1).unwrap());
        }
        assert_eq!(capacities(&list).len(), MAX_BLOCKS);
        assert_eq!(list.drain().len(), MAX_BLOCKS);
        assert!(capacities(&list).is_empty());
    }
}
