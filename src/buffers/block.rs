//! One block of the buffer pool.

use std::ptr::NonNull;

/// A `malloc` block of initialised bytes, freed on drop.
pub(super) struct Block {
    start: NonNull<u8>,
    /// Bytes.
    capacity: usize,
}

// SAFETY: the block owns its bytes.
unsafe impl Send for Block {}

impl Block {
    /// A block of `capacity` zero bytes, of which pages that are not touched take no memory if it is large. `None` without
    /// memory for it.
    pub(super) fn zeroed(capacity: usize) -> Option<Block> {
        // SAFETY: any length may be asked for.
        let start = NonNull::new(unsafe { libc::calloc(capacity.max(1), 1) }.cast())?;
        Some(Block { start, capacity })
    }

    /// Takes over a block.
    ///
    /// # Safety
    /// `start` is a `malloc` block of at least `capacity` initialised bytes, which nobody else uses or frees.
    pub(super) unsafe fn from_raw(start: NonNull<u8>, capacity: usize) -> Block {
        Block { start, capacity }
    }

    /// Hands the block over: the caller has to `free` it.
    pub(super) fn into_raw(self) -> NonNull<u8> {
        let start = self.start;
        std::mem::forget(self);
        start
    }

    /// Bytes of the block.
    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The bytes.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: a block of that many initialised bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.capacity) }
    }

    /// The bytes, to be changed.
    #[inline(always)]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: a block of that many initialised bytes, borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.capacity) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: a `malloc` block of our own.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}
