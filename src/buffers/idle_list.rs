//! A list of idle blocks with a budget.

use super::block::Block;

/// Upper limit for the number of blocks in a list: a search reads all their lengths, 16 bytes each, which are then 16
/// cache lines.
const MAX_BLOCKS: usize = 64;

/// Upper limit of unused bytes with which [`IdleList::take`] returns the newest block without a search: the smallest
/// chunk that the list of the process keeps.
const MAX_UNUSED_WITHOUT_SEARCH: usize = 64 << 10;

/// Idle blocks, oldest first.
pub(super) struct IdleList {
    blocks: Vec<Block>,
    /// The sum of their capacities.
    nbytes: usize,
    /// Upper limit for `nbytes`.
    budget: usize,
}

impl IdleList {
    /// Returns an empty list with a budget in bytes.
    pub(super) const fn new(budget: usize) -> IdleList {
        IdleList { blocks: Vec::new(), nbytes: 0, budget }
    }

    /// Returns the sum of the capacities of all blocks, in bytes.
    #[cfg(test)]
    pub(super) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Removes and returns a block of `len` to `len + max_unused` bytes: the newest block if at most
    /// [`MAX_UNUSED_WITHOUT_SEARCH`] bytes of it are unused, else the smallest block. Returns `None` if there is none.
    #[inline]
    pub(super) fn take(&mut self, len: usize, max_unused: usize) -> Option<Block> {
        // Consecutive calls mostly need the same lengths, so the newest block mostly fits.
        if let Some(last) = self.blocks.last()
            && last.capacity() >= len
            && last.capacity() - len <= max_unused.min(MAX_UNUSED_WITHOUT_SEARCH)
        {
            self.nbytes -= last.capacity();
            return self.blocks.pop();
        }
        self.take_smallest(len, max_unused)
    }

    /// Does the same as [`take`](Self::take), among all blocks.
    #[inline(never)]
    fn take_smallest(&mut self, len: usize, max_unused: usize) -> Option<Block> {
        let (mut found, mut smallest) = (None, len.saturating_add(max_unused));
        for (at, block) in self.blocks.iter().enumerate() {
            if (len..=smallest).contains(&block.capacity()) {
                (found, smallest) = (Some(at), block.capacity());
            }
        }
        Some(self.remove(found?))
    }

    fn remove(&mut self, at: usize) -> Block {
        let block = self.blocks.remove(at);
        self.nbytes -= block.capacity();
        block
    }

    /// Adds a block. The list may exceed its limits then, until [`pop_excess`](Self::pop_excess) returns `None`.
    ///
    /// # Errors
    /// The block, if it is larger than the budget or there is no memory to list it.
    #[inline]
    pub(super) fn push(&mut self, block: Block) -> Result<(), Block> {
        let is_listed =
            self.blocks.len() < self.blocks.capacity() || self.blocks.try_reserve(MAX_BLOCKS + 1).is_ok();
        if block.capacity() > self.budget || !is_listed {
            return Err(block);
        }
        self.nbytes += block.capacity();
        self.blocks.push(block);
        Ok(())
    }

    /// Removes and returns the oldest block if the list exceeds its budget or [`MAX_BLOCKS`].
    #[inline]
    pub(super) fn pop_excess(&mut self) -> Option<Block> {
        if self.nbytes > self.budget || self.blocks.len() > MAX_BLOCKS {
            self.pop_oldest_above(0)
        } else {
            None
        }
    }

    /// Removes and returns the oldest block if all blocks together have more than `keep` bytes.
    #[cold]
    pub(super) fn pop_oldest_above(&mut self, keep: usize) -> Option<Block> {
        (self.nbytes > keep).then(|| self.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push_and_trim(list: &mut IdleList, capacity: usize) {
        let _ = list.push(Block::zeroed(capacity).unwrap());
        while list.pop_excess().is_some() {}
    }

    fn list_with_blocks(budget: usize, capacities: &[usize]) -> IdleList {
        let mut list = IdleList::new(budget);
        capacities.iter().for_each(|&capacity| push_and_trim(&mut list, capacity));
        list
    }

    fn capacities(list: &IdleList) -> Vec<usize> {
        let capacities: Vec<usize> = list.blocks.iter().map(Block::capacity).collect();
        assert_eq!(list.nbytes, capacities.iter().sum::<usize>());
        capacities
    }

    #[test]
    fn take_returns_the_smallest_block_that_suffices_within_the_limit_of_unused_bytes() {
        let mut list = list_with_blocks(1 << 30, &[120_000, 80_000, 100_000, 200_000]);
        assert!(list.take(70_000, 9_999).is_none());
        assert!(list.take(200_001, usize::MAX).is_none());
        for (len, capacity) in [(90_000, 100_000), (1, 80_000), (150_000, 200_000), (5, 120_000)] {
            assert_eq!(list.take(len, usize::MAX).unwrap().capacity(), capacity);
        }
        assert!(capacities(&list).is_empty());
    }

    #[test]
    fn oldest_blocks_are_removed_when_the_list_exceeds_its_limits() {
        let mut list = list_with_blocks(1000, &[500, 250, 125]);
        push_and_trim(&mut list, 1001);
        assert_eq!(capacities(&list), [500, 250, 125]);
        push_and_trim(&mut list, 250);
        assert_eq!(capacities(&list), [250, 125, 250]);
        push_and_trim(&mut list, 1000);
        assert_eq!(capacities(&list), [1000]);
        assert!(list.pop_oldest_above(1000).is_none());
        assert!(list.pop_oldest_above(999).is_some());
        for _ in 0..2 * MAX_BLOCKS {
            push_and_trim(&mut list, 1);
        }
        assert_eq!(capacities(&list).len(), MAX_BLOCKS);
        while list.pop_oldest_above(0).is_some() {}
        assert!(capacities(&list).is_empty());
    }
}
