//! The output buffer of the decoder.
//!
//! Owns the wide writes, and the check for the room that they need behind the bytes to be written.

use crate::codec::match_copy::{MatchCopy, OVERSHOOT, copy_match};

/// The width, in bytes, of the steps in which literals are copied.
pub(super) const COPY_STEP: usize = 32;
const _: () = assert!(COPY_STEP <= OVERSHOOT);

/// A buffer that is filled up to `written`, and may be overwritten behind it.
pub(super) struct InflateOutput<'a> {
    pub(super) dest: &'a mut [u8],
    pub(super) written: usize,
}

impl InflateOutput<'_> {
    /// Returns whether `length` bytes fit with room for wide writes behind them.
    #[inline(always)]
    pub(super) fn has_room(&self, length: usize) -> bool {
        self.dest.len().checked_sub(self.written).is_some_and(|room| room >= length + OVERSHOOT)
    }

    /// Appends `byte`, for which there must be room.
    #[inline(always)]
    pub(super) fn append_literal(&mut self, byte: u8) {
        self.dest[self.written] = byte;
        self.written += 1;
    }

    /// Appends the first `count` of `literals`. Returns `None`, and writes nothing, if there is no room, or if
    /// `literals` has fewer than [`COPY_STEP`] bytes behind them.
    #[inline(always)]
    pub(super) fn append_literals(&mut self, literals: &[u8], count: usize) -> Option<()> {
        if !self.has_room(count) || literals.len() < count + COPY_STEP {
            return None;
        }
        // SAFETY: steps begin before `count` and are COPY_STEP long, no longer than OVERSHOOT: they end inside both.
        unsafe {
            let (from, to) = (literals.as_ptr(), self.dest.as_mut_ptr().add(self.written));
            let mut done = 0;
            while done < count {
                let step = from.add(done).cast::<[u8; COPY_STEP]>().read_unaligned();
                to.add(done).cast::<[u8; COPY_STEP]>().write_unaligned(step);
                done += COPY_STEP;
            }
        }
        self.written += count;
        Some(())
    }

    /// Appends a match of `length` bytes from `distance` bytes before. Returns `None`, and writes nothing, if there is
    /// no room or `distance` is invalid.
    #[inline(always)]
    pub(super) fn append_match<P: MatchCopy>(&mut self, distance: usize, length: usize) -> Option<()> {
        if !self.has_room(length) || distance == 0 || distance > self.written {
            return None;
        }
        // SAFETY: 1 <= `distance` <= `written`, and OVERSHOOT bytes behind the match are inside `dest`.
        unsafe { copy_match::<P>(self.dest.as_mut_ptr().add(self.written), distance, length) };
        self.written += length;
        Some(())
    }
}
