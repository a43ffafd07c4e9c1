//! One block of the buffer pool.

use std::ptr::NonNull;

/// A `malloc` block of initialised bytes, freed on drop.
pub(super) struct Block {
    start: NonNull<u8>,
    /// Size in bytes.
    capacity: usize,
}

// SAFETY: the block owns its bytes.
unsafe impl Send for Block {}
// SAFETY: a shared reference only permits reading the bytes.
unsafe impl Sync for Block {}

impl Block {
    /// Allocates `capacity` zero bytes; returns `None` if that fails. The system maps the pages of a large block at
    /// their first use.
    pub(super) fn zeroed(capacity: usize) -> Option<Block> {
        // SAFETY: `calloc` accepts every size.
        let start = NonNull::new(unsafe { libc::calloc(capacity.max(1), 1) }.cast())?;
        Some(Block { start, capacity })
    }

    /// Takes ownership of a `malloc` block.
    ///
    /// # Safety
    /// `start` is a `malloc` block of at least `capacity` initialised bytes that no other code uses or frees.
    pub(super) unsafe fn from_raw(start: NonNull<u8>, capacity: usize) -> Block {
        Block { start, capacity }
    }

    /// Returns the block, which the caller has to `free`, with its end given back to the allocator if at least
    /// [`PAGE_SIZE`] bytes lie behind the first `len`.
    pub(super) fn into_raw(self, len: usize) -> NonNull<u8> {
        let start = self.start;
        let is_short = self.capacity.saturating_sub(len) < PAGE_SIZE;
        std::mem::forget(self);
        if is_short {
            return start;
        }
        // SAFETY: the block was owned until here, and shrinks. If `realloc` fails, the block is as before.
        NonNull::new(unsafe { libc::realloc(start.as_ptr().cast(), len.max(1)) }.cast()).unwrap_or(start)
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: a block of that many initialised bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.capacity) }
    }

    #[inline(always)]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: a block of that many initialised bytes, borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.capacity) }
    }
}

/// Unused bytes at the end of a block, from which on [`Block::into_raw`] gives them back: a page of the system. Without
/// it, a chunk that is freed would count as less memory than its block has, by more at each use.
const PAGE_SIZE: usize = 4 << 10;

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: a `malloc` block that this value owns.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}
