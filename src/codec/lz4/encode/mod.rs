//! Our encoders of LZ4 blocks, whole buffer to whole buffer. A dictionary is the prefix of the buffer before the
//! content.
//!
//! Owns the parts that the encoders share: the format's rules for the end of a block, and functions that read and
//! compare bytes. Compression levels are handled by the caller. All writes are checked; the `unsafe` parts are
//! unchecked reads, and calls of functions compiled for processor features that were detected before.

pub(super) mod fast;
mod hash_chains;
pub(super) mod high;
pub(super) mod mid;
mod output;
#[cfg(test)]
mod tests;

use crate::codec::common_prefix::difference_mask32;

/// The length of the shortest match, in bytes.
const MIN_MATCH: usize = 4;
/// The number of bytes at the end of a block that must be literals.
const LAST_LITERALS: usize = 5;
/// The number of bytes at the end of a block in which no match may begin.
const NO_MATCH_TAIL: usize = 12;
/// The longest distance of a match, in bytes.
const MAX_DISTANCE: usize = 65535;

/// The longest input whose positions fit into 16 bits, in bytes.
const MAX_NARROW_INPUT: usize = u16::MAX as usize + 1;

trait TablePosition: Copy + Default {
    fn new(at: usize) -> Self;

    fn position(self) -> usize;
}

/// For inputs of up to 64 KiB: the tables stay in the L1 and L2 caches.
impl TablePosition for u16 {
    #[inline(always)]
    fn new(at: usize) -> Self {
        at as u16
    }

    #[inline(always)]
    fn position(self) -> usize {
        usize::from(self)
    }
}

impl TablePosition for u32 {
    #[inline(always)]
    fn new(at: usize) -> Self {
        at as u32
    }

    #[inline(always)]
    fn position(self) -> usize {
        self as usize
    }
}

/// Returns the 8 bytes at `src[at]`.
///
/// # Safety
/// `at + 8 <= src.len()`.
#[inline(always)]
unsafe fn read64(src: &[u8], at: usize) -> u64 {
    debug_assert!(at + 8 <= src.len());
    // SAFETY: the caller's promise. Checked reads would cost a tenth of the encoder's speed.
    u64::from_le_bytes(unsafe { src.as_ptr().add(at).cast::<[u8; 8]>().read() })
}

/// Returns the 4 bytes at `src[at]`.
///
/// # Safety
/// `at + 4 <= src.len()`.
#[inline(always)]
unsafe fn read32(src: &[u8], at: usize) -> u32 {
    debug_assert!(at + 4 <= src.len());
    // SAFETY: the caller's promise.
    u32::from_le_bytes(unsafe { src.as_ptr().add(at).cast::<[u8; 4]>().read() })
}

/// Returns the number of bytes at `src[at]` that are equal to those `distance` bytes before, up to `src[end]`.
///
/// The start of the next sequence depends on the result, so latency matters: the result is mostly known after the
/// first word. Beyond it, the length is random, and comparing 32 bytes at a time needs fewer branches.
#[inline(always)]
fn common_prefix_len(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
    debug_assert!(at <= end && end <= src.len() && distance <= at);
    let (here, there) = (&src[at..end], &src[at - distance..end - distance]);
    let mut n = 0;
    if here.len() >= 8 {
        // SAFETY: 8 <= the length of both.
        let differing = unsafe { read64(here, 0) ^ read64(there, 0) };
        if differing != 0 {
            return differing.trailing_zeros() as usize / 8;
        }
        n = 8;
        while n + 32 <= here.len() {
            // SAFETY: `n` + 32 <= the length of both.
            let differing = unsafe { difference_mask32(here, there, n) };
            if differing != 0 {
                return n + differing.trailing_zeros() as usize;
            }
            n += 32;
        }
        while n + 8 <= here.len() {
            // SAFETY: `n` + 8 <= the length of both.
            let differing = unsafe { read64(here, n) ^ read64(there, n) };
            if differing != 0 {
                return n + differing.trailing_zeros() as usize / 8;
            }
            n += 8;
        }
    }
    n + here[n..].iter().zip(&there[n..]).take_while(|(x, y)| x == y).count()
}

/// Returns the number of bytes before `at`, back to `low`, that are equal to those `distance` bytes before.
///
/// # Safety
/// `low <= at <= src.len()` and `distance <= at`.
#[inline(always)]
unsafe fn common_suffix_len(src: &[u8], at: usize, low: usize, distance: usize) -> usize {
    debug_assert!(low <= at && at <= src.len() && distance <= at);
    let most = (at - low).min(at - distance);
    let mut n = 0;
    while at - distance - n >= 8 && n < most {
        // SAFETY: `n` + 8 <= `at` - `distance`, so both words lie before `at`, which by the caller is inside `src`.
        let differing = unsafe { read64(src, at - n - 8) ^ read64(src, at - distance - n - 8) };
        if differing != 0 {
            return most.min(n + differing.leading_zeros() as usize / 8);
        }
        n += 8;
    }
    while n < most && src[at - n - 1] == src[at - distance - n - 1] {
        n += 1;
    }
    n.min(most)
}
