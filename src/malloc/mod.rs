//! Memory that crosses the C ABI: it comes from `malloc`, so that a program may `free` it, or pass it to the library.
//!
//! Chunks, frames and all other memory that a caller may own are kept in [`MallocBytes`] or [`MallocVec`].

use crate::buffers;
use crate::error::{Result, ensure, err};
use crate::filter::copy::copy_to_uninit;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

/// Bytes in a `malloc` block, which is freed on drop.
pub(crate) struct MallocBytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it owns its bytes.
unsafe impl Send for MallocBytes {}
// SAFETY: it owns its bytes.
unsafe impl Sync for MallocBytes {}

impl MallocBytes {
    /// Returns `len` zero bytes.
    pub(crate) fn zeroed(len: usize) -> Result<Self> {
        // SAFETY: `calloc` accepts every size.
        let start = unsafe { libc::calloc(len.max(1), 1) };
        match NonNull::new(start.cast()) {
            Some(start) => Ok(MallocBytes { start, len }),
            None => Err(err!(MemoryAlloc, "cannot allocate {len} bytes")),
        }
    }

    pub(crate) fn copy_of(bytes: &[u8]) -> Result<Self> {
        let fresh = || {
            // SAFETY: `malloc` accepts every size.
            NonNull::new(unsafe { libc::malloc(bytes.len().max(1)) }.cast::<u8>())
        };
        let Some(start) = buffers::take_block(bytes.len()).or_else(fresh) else {
            return Err(err!(MemoryAlloc, "cannot allocate {} bytes", bytes.len()));
        };
        // SAFETY: a block of at least that length, which no other code uses.
        copy_to_uninit(bytes, unsafe { std::slice::from_raw_parts_mut(start.as_ptr().cast(), bytes.len()) });
        Ok(MallocBytes { start, len: bytes.len() })
    }

    /// Takes ownership of a block.
    ///
    /// # Safety
    /// `start` is a `malloc` block of at least `len` initialised bytes that no other code frees.
    pub(crate) unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Self {
        MallocBytes { start, len }
    }

    /// Returns the block and gives up its ownership: the caller has to `free` it.
    pub(crate) fn into_raw(self) -> *mut u8 {
        let start = self.start.as_ptr();
        std::mem::forget(self);
        start
    }

    /// Returns a copy of `text` with a NUL behind it.
    pub(crate) fn with_nul(text: &[u8]) -> Result<Self> {
        let mut copy = MallocBytes::zeroed(text.len().saturating_add(1))?;
        copy[..text.len()].copy_from_slice(text);
        Ok(copy)
    }

    /// Returns a block of `count` numbers in the byte order of the machine.
    pub(crate) fn of_numbers(count: usize, numbers: impl Iterator<Item = i64>) -> Result<Self> {
        let len = count.checked_mul(size_of::<i64>());
        let len = len.ok_or_else(|| err!(MemoryAlloc, "cannot allocate {count} numbers"))?;
        let mut bytes = MallocBytes::zeroed(len)?;
        for (place, number) in bytes.chunks_exact_mut(size_of::<i64>()).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(bytes)
    }

    /// Shortens the content to at most `len` bytes; the size of the block does not change.
    pub(crate) fn shorten(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Returns the memory after the first `len` bytes to the allocator. If that fails, only the length changes.
    pub(crate) fn truncate_and_shrink(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.len = len;
        // SAFETY: the block is owned.
        let start = unsafe { libc::realloc(self.start.as_ptr().cast(), len.max(1)) };
        self.start = NonNull::new(start.cast()).unwrap_or(self.start);
    }
}

impl Drop for MallocBytes {
    fn drop(&mut self) {
        // SAFETY: the block is owned, and not used after this.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}

impl Deref for MallocBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: a block of that many initialised bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for MallocBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: a block of that many initialised bytes, borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// A `malloc` block that grows at its end, by at least half of its size, so that appending has constant amortized cost.
pub(crate) struct MallocVec {
    /// NULL without a block.
    start: *mut u8,
    len: usize,
    capacity: usize,
    /// Whether the block belongs to a program, which may read it and requires that it does not change.
    is_copy_on_write: bool,
    /// Whether dropping leaves the block to the program.
    is_program_owned: bool,
}

// SAFETY: it owns its bytes, or borrows them from a program that does not change them as long as it lives.
unsafe impl Send for MallocVec {}
// SAFETY: methods through a shared reference only read the bytes and fields.
unsafe impl Sync for MallocVec {}

impl MallocVec {
    /// Returns an empty value without a block.
    pub(crate) fn new() -> Self {
        MallocVec {
            start: ptr::null_mut(),
            len: 0,
            capacity: 0,
            is_copy_on_write: false,
            is_program_owned: false,
        }
    }

    /// Borrows a program's block, which is copied before the first change, and not freed on drop.
    ///
    /// # Safety
    /// `start` is a `malloc` block of at least `len` initialised bytes, which do not change and are not freed while
    /// the result or a value made from it lives.
    pub(crate) unsafe fn from_program_block(start: NonNull<u8>, len: usize) -> Self {
        MallocVec {
            start: start.as_ptr(),
            len,
            capacity: len,
            is_copy_on_write: true,
            is_program_owned: true,
        }
    }

    /// Sets whether dropping leaves the block to the program.
    ///
    /// # Safety
    /// With `false`, the program has given up ownership of the block that it passed to
    /// [`from_program_block`](Self::from_program_block): it neither uses nor frees it any more.
    pub(crate) unsafe fn set_program_owned(&mut self, is_program_owned: bool) {
        self.is_program_owned = is_program_owned;
    }

    /// Returns the address of the block, NULL without one.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.start.is_null() {
            return &[];
        }
        // SAFETY: a block of that many initialised bytes.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// Returns the bytes, which the caller may change in place.
    ///
    /// # Errors
    /// `MemoryAlloc` when they have to be copied first.
    pub(crate) fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        self.reserve(self.len)?;
        if self.start.is_null() {
            return Ok(&mut []);
        }
        // SAFETY: an owned block of that many initialised bytes.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start, self.len) })
    }

    /// Grows the capacity to at least `len` bytes, in an owned block.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(crate) fn reserve(&mut self, len: usize) -> Result<()> {
        if !self.is_copy_on_write && len <= self.capacity {
            return Ok(());
        }
        let needed = len.max(self.len).max(1);
        let capacity = if needed <= self.capacity { needed } else { needed.max(self.capacity / 2 * 3) };
        let grown: *mut u8 = if self.is_copy_on_write {
            // SAFETY: `malloc` accepts every size.
            unsafe { libc::malloc(capacity) }.cast()
        } else {
            // SAFETY: NULL or an owned block.
            unsafe { libc::realloc(self.start.cast(), capacity) }.cast()
        };
        ensure!(!grown.is_null(), MemoryAlloc, "cannot allocate {capacity} bytes");
        if self.is_copy_on_write {
            // SAFETY: both blocks have that many bytes, and `grown` is fresh.
            unsafe { grown.copy_from_nonoverlapping(self.start, self.len) };
            if !self.is_program_owned {
                // SAFETY: the program has given up ownership of the block.
                unsafe { libc::free(self.start.cast()) };
            }
            self.is_copy_on_write = false;
            self.is_program_owned = false;
        }
        self.start = grown;
        self.capacity = capacity;
        Ok(())
    }

    /// Writes `bytes` at `position`; a gap before them is filled with zeros.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(crate) fn write_at(&mut self, position: usize, bytes: &[u8]) -> Result<()> {
        let end = position.checked_add(bytes.len());
        let end = end.ok_or_else(|| {
            err!(MemoryAlloc, "{} bytes at {position} exceed the address space", bytes.len())
        })?;
        self.reserve(end.max(self.len))?;
        // SAFETY: the capacity is at least `end` bytes, and `bytes` cannot be in the block, since that is borrowed
        // mutably.
        unsafe {
            if position > self.len {
                self.start.add(self.len).write_bytes(0, position - self.len);
            }
            self.start.add(position).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        self.len = self.len.max(end);
        Ok(())
    }

    /// Removes all bytes from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl Default for MallocVec {
    fn default() -> Self {
        MallocVec::new()
    }
}

impl Drop for MallocVec {
    fn drop(&mut self) {
        if !self.is_program_owned {
            // SAFETY: NULL or an owned block.
            unsafe { libc::free(self.start.cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_zeroed_gaps() {
        let mut block = MallocVec::new();
        block.write_at(0, b"ab").unwrap();
        block.write_at(5, b"cd").unwrap();
        assert_eq!(block.bytes(), b"ab\0\0\0cd");
        block.truncate(3);
        block.write_at(4, b"e").unwrap();
        assert_eq!(block.bytes(), b"ab\0\0e");
        for i in 0..1000 {
            block.write_at(5 + i, &[i as u8]).unwrap();
        }
        assert_eq!(block.bytes().len(), 1005);
    }

    #[test]
    fn program_block_is_copied_before_the_first_change() {
        let theirs = MallocBytes::copy_of(b"theirs").unwrap();
        // SAFETY: the block lives longer than `block`.
        let mut block = unsafe { MallocVec::from_program_block(theirs.start, theirs.len) };
        assert_eq!(block.as_ptr(), theirs.start.as_ptr());
        block.write_at(6, b"!").unwrap();
        block.bytes_mut().unwrap()[0] = b'T';
        assert_eq!((block.bytes(), &theirs[..]), (&b"Theirs!"[..], &b"theirs"[..]));
    }

    #[test]
    fn truncate_and_shrink_keeps_the_first_bytes() {
        let mut bytes = MallocBytes::copy_of(&[7; 1000]).unwrap();
        bytes.truncate_and_shrink(10);
        assert_eq!(&bytes[..], [7; 10]);
        assert_eq!(&MallocBytes::zeroed(3).unwrap()[..], [0; 3]);
    }
}
