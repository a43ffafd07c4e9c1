//! Memory with an inaccessible page on both sides: a library that reads or writes one byte outside the
//! slice it was given crashes the test instead of passing it by luck.

use super::system::{make_read_only, map_guarded, page_len, unmap_guarded};

/// `capacity` bytes (rounded up to pages) between two inaccessible pages.
pub struct GuardedBuffer {
    start: *mut u8,
    capacity: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for GuardedBuffer {}

impl GuardedBuffer {
    pub fn new(capacity: usize) -> GuardedBuffer {
        let capacity = capacity.max(1).next_multiple_of(page_len());
        GuardedBuffer { start: map_guarded(capacity), capacity }
    }

    /// The last `len` bytes of the buffer: the byte after them is inaccessible.
    pub fn last_bytes(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.capacity);
        // SAFETY: the accessible part is `capacity` bytes from `start`, zeroed by the system when
        // fresh, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(self.capacity - len), len) }
    }

    /// The first `len` bytes of the buffer: the byte before them is inaccessible.
    pub fn first_bytes(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.capacity);
        // SAFETY: as in `last_bytes`.
        unsafe { std::slice::from_raw_parts_mut(self.start, len) }
    }

    /// `len` bytes at the end of the buffer, or at its start.
    pub fn edge_bytes(&mut self, len: usize, at_end: bool) -> &mut [u8] {
        if at_end { self.last_bytes(len) } else { self.first_bytes(len) }
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`; no borrow of it outlives `self`.
        unsafe { unmap_guarded(self.start, self.capacity) };
    }
}

/// Read-only memory: a write to it crashes the process.
pub struct ReadOnlyBuffer {
    buffer: GuardedBuffer,
    len: usize,
}

impl ReadOnlyBuffer {
    pub fn new(bytes: &[u8]) -> ReadOnlyBuffer {
        let mut buffer = GuardedBuffer::new(bytes.len());
        buffer.first_bytes(bytes.len()).copy_from_slice(bytes);
        // SAFETY: no method of this type writes.
        unsafe { make_read_only(buffer.start, buffer.capacity) };
        ReadOnlyBuffer { buffer, len: bytes.len() }
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping lives as long as `self` and is never written.
        unsafe { std::slice::from_raw_parts(self.buffer.start, self.len) }
    }
}
