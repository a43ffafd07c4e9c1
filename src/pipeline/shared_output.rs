//! An output buffer of which several workers write disjoint ranges at the same time.

use crate::out_buffer::OutBuffer;
use std::marker::PhantomData;
use std::ops::Range;
#[cfg(debug_assertions)]
use std::{collections::BTreeMap, sync::Mutex};

/// A borrowed output buffer that returns disjoint mutable ranges of itself. Debug builds check that they are disjoint.
pub(crate) struct SharedOutput<'a> {
    start: *mut u8,
    len: usize,
    #[cfg(debug_assertions)]
    lent_ranges: Mutex<BTreeMap<usize, usize>>,
    buffer: PhantomData<OutBuffer<'a>>,
}

// SAFETY: the buffer is borrowed mutably for 'a, and the callers of `write_range` guarantee disjoint ranges, so no
// byte is accessed from two threads.
unsafe impl Send for SharedOutput<'_> {}
// SAFETY: `write_range` through a shared reference accesses only its own range, which no other call has.
unsafe impl Sync for SharedOutput<'_> {}

impl<'a> SharedOutput<'a> {
    /// Shares `buffer` among workers.
    pub(crate) fn new(mut buffer: OutBuffer<'a>) -> Self {
        SharedOutput {
            start: buffer.as_mut_ptr(),
            len: buffer.len(),
            #[cfg(debug_assertions)]
            lent_ranges: Mutex::default(),
            buffer: PhantomData,
        }
    }

    /// Returns the length of the buffer in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes of `range` for writing.
    ///
    /// # Safety
    /// The caller writes each byte before it reads it. No two ranges that were requested by
    /// [`write_range`](Self::write_range) or [`read_range`](Self::read_range) may share a byte while both are in use.
    ///
    /// # Panics
    /// If the range is not inside the buffer; in debug builds also if it overlaps one that was lent before.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn write_range(&self, range: Range<usize>) -> &mut [u8] {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "the range {range:?} is not inside a buffer of {} bytes",
            self.len
        );
        #[cfg(debug_assertions)]
        {
            let mut lent = self.lent_ranges.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // Lent ranges are disjoint, so only the last one that begins before the end of this one can overlap it.
            let before = lent.range(..range.end).next_back();
            let apart = before.is_none_or(|(_, &end)| end <= range.start);
            assert!(range.is_empty() || apart, "a part of {range:?} is lent already");
            if !range.is_empty() {
                lent.insert(range.start, range.end);
            }
        }
        // SAFETY: inside the buffer, and the caller guarantees disjoint ranges.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// Returns the bytes of `range` for reading, after all writes to them.
    ///
    /// # Safety
    /// All uses of these bytes through [`write_range`](Self::write_range) have ended, in a way that orders the writes
    /// before this call, and no later call of `write_range` includes them.
    ///
    /// # Panics
    /// If the range is not inside the buffer.
    pub(crate) unsafe fn read_range(&self, range: Range<usize>) -> &[u8] {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "the range {range:?} is not inside a buffer of {} bytes",
            self.len
        );
        // SAFETY: inside the buffer; the caller guarantees that the bytes are only read from now on.
        unsafe { std::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_the_requested_position() {
        let mut buffer = [0u8; 10];
        let out = SharedOutput::new(buffer[..].as_mut().into());
        // SAFETY: the two ranges are disjoint.
        unsafe {
            out.write_range(0..4).fill(1);
            out.write_range(4..10).fill(2);
        }
        assert_eq!(buffer, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    #[should_panic(expected = "of 10 bytes")]
    fn ranges_beyond_the_end_panic() {
        let mut buffer = [0u8; 10];
        // SAFETY: the only range.
        let _ = unsafe { SharedOutput::new(buffer[..].as_mut().into()).write_range(5..11).len() };
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "lent already")]
    fn overlapping_ranges_panic_in_debug_builds() {
        let mut buffer = [0u8; 10];
        let out = SharedOutput::new(buffer[..].as_mut().into());
        // SAFETY: the second call panics before it returns a range.
        let _ = unsafe { (out.write_range(0..5).len(), out.write_range(4..6).len()) };
    }
}
