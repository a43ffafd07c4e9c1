//! Destinations that callers pass, whose memory may be uninitialised.

use std::mem::MaybeUninit;
use std::ops::Range;

/// A borrowed destination. Its bytes can be written, but not read, since they may be uninitialised.
///
/// Code that decodes or encodes a block needs a plain slice, from which it reads bytes that it has written before
/// (matches, in-place filters): [`into_bytes`](Self::into_bytes) is the only function that returns one.
#[derive(Default)]
pub(crate) struct OutBuffer<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
}

impl<'a> OutBuffer<'a> {
    /// Borrows `len` bytes at `start`.
    ///
    /// # Safety
    /// `start` points at `len` writable bytes, initialised or not, which no other code uses during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(start: *mut u8, len: usize) -> Self {
        // SAFETY: by the contract of this function `len` writable bytes that no other code uses during `'a`;
        // `MaybeUninit` needs no initialised memory.
        OutBuffer { bytes: unsafe { std::slice::from_raw_parts_mut(start.cast(), len) } }
    }

    /// Borrows the bytes of numbers.
    #[inline(always)]
    pub(crate) fn of_numbers(numbers: &'a mut [i64]) -> Self {
        // SAFETY: the bytes of a slice that is borrowed for `'a`. An `OutBuffer` writes initialised bytes only, all
        // of which are valid numbers.
        unsafe { OutBuffer::from_raw(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
    }

    /// Returns the length in bytes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the address of the first byte.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().cast()
    }

    /// Borrows the whole buffer for a shorter lifetime.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> OutBuffer<'_> {
        OutBuffer { bytes: self.bytes }
    }

    /// Returns the bytes of `range`; `None` if they are not all inside.
    #[inline(always)]
    pub(crate) fn get(self, range: Range<usize>) -> Option<OutBuffer<'a>> {
        self.bytes.get_mut(range).map(|bytes| OutBuffer { bytes })
    }

    /// Borrows the bytes of `range`.
    ///
    /// # Panics
    /// If they are not all inside.
    #[inline(always)]
    pub(crate) fn range(&mut self, range: Range<usize>) -> OutBuffer<'_> {
        OutBuffer { bytes: &mut self.bytes[range] }
    }

    /// Returns consecutive parts of `len` bytes each, without the remainder at the end.
    pub(crate) fn chunks_exact(self, len: usize) -> impl Iterator<Item = OutBuffer<'a>> {
        self.bytes.chunks_exact_mut(len).map(|bytes| OutBuffer { bytes })
    }

    #[inline(always)]
    pub(crate) fn fill(&mut self, byte: u8) {
        self.bytes.fill(MaybeUninit::new(byte));
    }

    /// Copies `src`, which has the same length.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline(always)]
    pub(crate) fn copy_from_slice(&mut self, src: &[u8]) {
        assert_eq!(self.bytes.len(), src.len(), "lengths differ");
        // SAFETY: both have that length, and a mutably borrowed destination overlaps no other slice.
        unsafe { self.as_mut_ptr().copy_from_nonoverlapping(src.as_ptr(), src.len()) }
    }

    /// Returns the bytes as a plain slice.
    ///
    /// # Safety
    /// The caller writes each byte before it reads it.
    #[inline(always)]
    pub(crate) unsafe fn into_bytes(self) -> &'a mut [u8] {
        // SAFETY: the memory and length of `bytes`, borrowed mutably; by the contract of this function no byte is
        // read before it is written.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast(), self.bytes.len()) }
    }
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for OutBuffer<'a> {
    #[inline(always)]
    fn from(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        OutBuffer { bytes }
    }
}

impl<'a> From<&'a mut [u8]> for OutBuffer<'a> {
    #[inline(always)]
    fn from(bytes: &'a mut [u8]) -> Self {
        // SAFETY: a slice that is borrowed for `'a`. An `OutBuffer` writes initialised bytes only, so that the slice
        // stays initialised.
        unsafe { OutBuffer::from_raw(bytes.as_mut_ptr(), bytes.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uninitialised_memory_is_written_in_parts() {
        let mut memory = [const { MaybeUninit::<u8>::uninit() }; 10];
        // SAFETY: the array is borrowed for as long as `output` is used.
        let mut output = unsafe { OutBuffer::from_raw(memory.as_mut_ptr().cast(), memory.len()) };
        assert_eq!(output.len(), 10);
        output.range(0..4).copy_from_slice(b"abcd");
        assert!(output.reborrow().get(5..11).is_none());
        output.reborrow().get(4..6).unwrap().fill(b'e');
        output.range(6..10).chunks_exact(2).enumerate().for_each(|(n, mut part)| part.fill(b'0' + n as u8));
        // SAFETY: all bytes are written.
        assert_eq!(unsafe { output.into_bytes() }, b"abcdee0011");
    }
}
