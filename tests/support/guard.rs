//! Memory with an inaccessible page on both sides: a library that reads or writes one byte outside the
//! slice it was given crashes the test instead of passing it by luck.

use std::ptr;

/// `capacity` bytes (rounded up to pages) between two inaccessible pages.
pub struct GuardedBuffer {
    base: *mut u8,
    page: usize,
    capacity: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for GuardedBuffer {}

impl GuardedBuffer {
    pub fn new(capacity: usize) -> GuardedBuffer {
        // SAFETY: reads a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let capacity = capacity.max(1).div_ceil(page) * page;
        // SAFETY: a fresh private anonymous mapping at an address of the system's choice.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                capacity + 2 * page,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(base, libc::MAP_FAILED, "mmap of {capacity} bytes");
        let base = base.cast::<u8>();
        // SAFETY: the range lies inside the mapping made above.
        let rc =
            unsafe { libc::mprotect(base.add(page).cast(), capacity, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(rc, 0, "mprotect");
        GuardedBuffer { base, page, capacity }
    }

    /// The last `len` bytes of the buffer: the byte after them is inaccessible.
    pub fn last_bytes(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.capacity);
        // SAFETY: the accessible part is `capacity` bytes from `base + page`, zeroed by the system when
        // fresh, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(self.page + self.capacity - len), len) }
    }

    /// The first `len` bytes of the buffer: the byte before them is inaccessible.
    pub fn first_bytes(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.capacity);
        // SAFETY: as in `last_bytes`.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(self.page), len) }
    }

    /// `len` bytes at the end of the buffer, or at its start.
    pub fn edge_bytes(&mut self, len: usize, at_end: bool) -> &mut [u8] {
        if at_end { self.last_bytes(len) } else { self.first_bytes(len) }
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no borrow of it outlives `self`.
        unsafe { libc::munmap(self.base.cast(), self.capacity + 2 * self.page) };
    }
}
