//! Our encoders of LZ4 blocks, whole buffer to whole buffer. A dictionary is what comes before the content in the buffer.
//!
//! Owns what they share: the format's rules for the end of a block, and the reading and comparing of bytes. Never knows about levels.
//! All writing is checked; unsafe are the unchecked reads, and the calls of code for a processor that has been asked for its
//! features.

mod chains;
pub(super) mod fast;
pub(super) mod high;
pub(super) mod mid;
mod output;
#[cfg(test)]
mod tests;

use crate::codec::common_prefix::difference_mask32;

/// The shortest match.
const MIN_MATCH: usize = 4;
/// The last bytes of a block are literals.
const LAST_LITERALS: usize = 5;
/// No match begins in the last bytes of a block.
const NO_MATCH_TAIL: usize = 12;
/// The longest way back.
const MAX_DISTANCE: usize = 65535;

/// The longest input whose positions fit into 16 bits, in bytes.
const NARROW_MAX: usize = u16::MAX as usize + 1;

/// A position in a table.
trait Slot: Copy + Default {
    fn new(at: usize) -> Self;

    fn at(self) -> usize;
}

/// For inputs of up to 64 KiB: the tables stay in the inner caches.
impl Slot for u16 {
    #[inline(always)]
    fn new(at: usize) -> Self {
        at as u16
    }

    #[inline(always)]
    fn at(self) -> usize {
        usize::from(self)
    }
}

impl Slot for u32 {
    #[inline(always)]
    fn new(at: usize) -> Self {
        at as u32
    }

    #[inline(always)]
    fn at(self) -> usize {
        self as usize
    }
}

/// A table of zeros. It never lies on the stack, which may be a caller's small one.
fn empty_table<S: Copy + Default, const N: usize>() -> Box<[S; N]> {
    let table: Box<[S]> = vec![S::default(); N].into();
    table.try_into().unwrap_or_else(|_| unreachable!("it has that length"))
}

/// Whether the processor has what the encoders are compiled for a second time.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// The 8 bytes at `src[at]`.
///
/// # Safety
/// `at + 8 <= src.len()`.
#[inline(always)]
unsafe fn read64(src: &[u8], at: usize) -> u64 {
    debug_assert!(at + 8 <= src.len());
    // SAFETY: the caller's promise. Checked reads would cost a tenth of the encoder's speed.
    u64::from_le_bytes(unsafe { src.as_ptr().add(at).cast::<[u8; 8]>().read() })
}

/// The 4 bytes at `src[at]`.
///
/// # Safety
/// `at + 4 <= src.len()`.
#[inline(always)]
unsafe fn read32(src: &[u8], at: usize) -> u32 {
    debug_assert!(at + 4 <= src.len());
    // SAFETY: the caller's promise.
    u32::from_le_bytes(unsafe { src.as_ptr().add(at).cast::<[u8; 4]>().read() })
}

/// How many bytes at `src[at]` are the same as `back` bytes before, up to `src[end]`.
///
/// Where the next sequence begins depends on it, so what counts is how soon it is known: mostly by the first word. Behind that
/// the length is a matter of chance, and many bytes at a time have fewer branches.
#[inline(always)]
fn common(src: &[u8], at: usize, back: usize, end: usize) -> usize {
    debug_assert!(at <= end && end <= src.len() && back <= at);
    let (here, there) = (&src[at..end], &src[at - back..end - back]);
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

/// Returns how many bytes before `at`, back to `low`, are the same as `back` bytes before those.
///
/// # Safety
/// `low <= at <= src.len()` and `back <= at`.
#[inline(always)]
unsafe fn common_before(src: &[u8], at: usize, low: usize, back: usize) -> usize {
    debug_assert!(low <= at && at <= src.len() && back <= at);
    let most = (at - low).min(at - back);
    let mut n = 0;
    while at - back - n >= 8 && n < most {
        // SAFETY: `n` + 8 <= `at` - `back`, so both words lie before `at`, which by the caller is inside `src`.
        let differing = unsafe { read64(src, at - n - 8) ^ read64(src, at - back - n - 8) };
        if differing != 0 {
            return most.min(n + differing.leading_zeros() as usize / 8);
        }
        n += 8;
    }
    while n < most && src[at - n - 1] == src[at - back - n - 1] {
        n += 1;
    }
    n.min(most)
}
