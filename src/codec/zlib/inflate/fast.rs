//! The inner loop of the decoder: symbols, as long as both buffers have room to read and write ahead.
//!
//! Owns the unchecked reads and writes. Decides nothing: whatever comes near an end is left to the careful path.

use std::ptr;

use super::bits::{Bits, READ_AHEAD};
use super::{DistanceTable, LitlenTable, Stop};

/// The longest match of deflate.
const MAX_LENGTH: usize = 258;
/// How far beyond its end a match may be copied.
const OVERSHOOT: usize = 64;
/// How far one round may write: literals, one match, and what its copy overshoots.
const WRITE_AHEAD: usize = 8 + MAX_LENGTH + OVERSHOOT;

/// Whether a round may read and write ahead.
pub(super) fn has_room(bits: &Bits, dest: &[u8], out: usize) -> bool {
    bits.src.len() - bits.pos >= READ_AHEAD && dest.len() - out >= WRITE_AHEAD
}

/// Decodes symbols from `out` on until the block ends or one of the buffers is nearly used up.
pub(super) fn symbols(
    litlen: &LitlenTable,
    distance: &DistanceTable,
    bits: &mut Bits,
    dest: &mut [u8],
    out: usize,
) -> Option<(usize, Stop)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
        // SAFETY: the two features have just been detected.
        return unsafe { symbols_bmi2(litlen, distance, bits, dest, out) };
    }
    symbols_anywhere::<Portable>(litlen, distance, bits, dest, out)
}

/// The same for processors with shifts by any register and 32-byte moves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,avx2")]
fn symbols_bmi2(
    litlen: &LitlenTable,
    distance: &DistanceTable,
    bits: &mut Bits,
    dest: &mut [u8],
    out: usize,
) -> Option<(usize, Stop)> {
    symbols_anywhere::<Avx2>(litlen, distance, bits, dest, out)
}

#[inline(always)]
fn symbols_anywhere<P: Periods>(
    litlen: &LitlenTable,
    distance: &DistanceTable,
    bits: &mut Bits,
    dest: &mut [u8],
    mut out: usize,
) -> Option<(usize, Stop)> {
    let src = bits.src;
    if !has_room(bits, dest, out) {
        return Some((out, Stop::NearEnd));
    }
    let (last_read, last_write) = (src.len() - READ_AHEAD, dest.len() - WRITE_AHEAD);
    let (mut pos, mut word, mut left) = (bits.pos, bits.word, bits.left);
    let base = dest.as_mut_ptr();

    // `left` counts in its low six bits; what entries leave in the others is never looked at.
    macro_rules! refill {
        () => {
            // SAFETY: `pos` was at most `last_read` when the round began (or before the first), and a round
            // refills twice, each time stepping at most 7 bytes: the 8 bytes read lie within READ_AHEAD.
            let next = u64::from_le(unsafe { ptr::read_unaligned(src.as_ptr().add(pos).cast::<u64>()) });
            word |= next.wrapping_shl(left);
            pos += ((left ^ 63) >> 3 & 7) as usize;
            left = left & 7 | 56;
        };
    }
    macro_rules! consume {
        ($entry:expr) => {
            word = $entry.shift(word);
            left = $entry.subtract_from(left);
        };
    }
    macro_rules! literal {
        ($entry:expr) => {
            consume!($entry);
            // SAFETY: `out` was at most `last_write` when the round began, and a round writes fewer than
            // 8 literals.
            unsafe { base.add(out).write($entry.byte()) };
            out += 1;
        };
    }

    // The next entry is always looked up before the refill that it does not need, and before the copy of the match
    // in front of it: the way from word to entry to word is what everything waits for.
    refill!();
    let mut entry = litlen.first(word);
    let stop = loop {
        if pos > last_read || out > last_write {
            break Stop::NearEnd;
        }
        // 56 bits at least, and `entry` is the first of them.
        if entry.is_literal() {
            literal!(entry);
            entry = litlen.first(word);
            if entry.is_literal() {
                literal!(entry);
                entry = litlen.first(word);
                if entry.is_literal() {
                    literal!(entry);
                    // 23 bits: enough for an index, but not for a length and its distance.
                    entry = litlen.first(word);
                    refill!();
                    continue;
                }
            }
        }
        // 34 bits at least, and a length takes 20.
        if entry.is_special() {
            if entry.is_link() {
                consume!(entry);
                entry = litlen.second(entry, word);
                if entry.is_literal() {
                    literal!(entry);
                    entry = litlen.first(word);
                    refill!();
                    continue;
                }
            }
            if entry.is_special() {
                if !entry.is_end() {
                    return None;
                }
                consume!(entry);
                break Stop::EndOfBlock;
            }
        }
        let length = entry.value(word);
        consume!(entry);
        // 14 bits at least: enough for an index.
        let mut far = distance.first(word);
        refill!();
        if far.is_special() {
            if !far.is_link() {
                return None;
            }
            consume!(far);
            far = distance.second(far, word);
            if far.is_special() {
                return None;
            }
        }
        let back = far.value(word);
        consume!(far);
        entry = litlen.first(word);
        refill!();
        if back > out {
            return None;
        }
        // SAFETY: 1 <= `back` <= `out`, so the match begins inside `dest`; `length` is at most MAX_LENGTH and
        // WRITE_AHEAD leaves OVERSHOOT bytes behind it.
        unsafe { copy_match::<P>(base.add(out), back, length) };
        out += length;
    };
    (bits.pos, bits.word, bits.left) = (pos, word, left & 63);
    Some((out, stop))
}

/// Copies a match of `length` bytes from `back` bytes before `out`. `None` if it begins before `dest` or
/// ends behind it.
pub(super) fn copy(dest: &mut [u8], out: usize, back: usize, length: usize) -> Option<()> {
    let from = out.checked_sub(back)?;
    if back > 0 && dest.len().checked_sub(length + OVERSHOOT).is_some_and(|last| out <= last) {
        // SAFETY: 1 <= `back` <= `out`, and `length` + OVERSHOOT bytes from `out` are inside `dest`.
        unsafe { copy_match::<Portable>(dest.as_mut_ptr().add(out), back, length) };
        return Some(());
    }
    if out + length > dest.len() {
        return None;
    }
    for at in 0..length {
        dest[out + at] = dest[from + at];
    }
    Some(())
}

/// Repeats at `to` the bytes from `back` before it, `length` of them, and perhaps writes garbage after those.
///
/// Loads that overlap recent stores stall the processor, so short distances are loaded once and stored
/// again and again, each time as far on as whole periods reach.
///
/// # Safety
/// `back` >= 1; `back` bytes before `to` and `length` + [`OVERSHOOT`] bytes from it belong to one buffer.
#[inline(always)]
unsafe fn copy_match<P: Periods>(to: *mut u8, back: usize, length: usize) {
    // SAFETY: by the contract, `from` .. `to` + `length` + OVERSHOOT is inside one buffer. Every load below
    // begins at most `length` after `from` and is at most OVERSHOOT long; every store begins less than `length`
    // after `to` and is at most OVERSHOOT long.
    unsafe {
        let from = to.sub(back);
        if back >= 32 {
            move_chunk::<32>(from, to);
            if length > 32 {
                if back >= 64 {
                    let mut at = 32;
                    while at < length {
                        move_chunk::<32>(from.add(at), to.add(at));
                        at += 32;
                    }
                } else {
                    repeat_chunk(from.cast::<[u8; 64]>().read_unaligned(), to, back, length);
                }
            }
        } else if back >= 16 {
            if length <= 16 {
                move_chunk::<16>(from, to);
            } else {
                repeat_chunk(from.cast::<[u8; 32]>().read_unaligned(), to, back, length);
            }
        } else {
            P::repeat(to, back, length);
        }
    }
}

/// How periods shorter than 16 bytes are repeated.
trait Periods {
    /// Repeats at `to` the `back` bytes before it, up to `length`, and perhaps writes garbage after those.
    ///
    /// # Safety
    /// As [`copy_match`]'s, and `back` < 16.
    unsafe fn repeat(to: *mut u8, back: usize, length: usize);
}

/// In two words.
struct Portable;

impl Periods for Portable {
    #[inline(always)]
    unsafe fn repeat(to: *mut u8, back: usize, length: usize) {
        // SAFETY: by the contract, 16 bytes from `back` before `to` and OVERSHOOT bytes from each `at` <
        // `length` belong to the buffer.
        unsafe {
            let mut period = u128::from_le_bytes(to.sub(back).cast::<[u8; 16]>().read_unaligned());
            period &= (1 << (back * 8)) - 1;
            let mut filled = back;
            while filled < 16 {
                period |= period << (filled * 8);
                filled *= 2;
            }
            repeat_chunk(period.to_le_bytes(), to, 16 / back * back, length);
        }
    }
}

/// In one register. Only for code that runs where AVX2 is known to be.
#[cfg(target_arch = "x86_64")]
struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Periods for Avx2 {
    #[inline(always)]
    unsafe fn repeat(to: *mut u8, back: usize, length: usize) {
        // SAFETY: the contract is the callee's, and whoever names this type has AVX2.
        unsafe { repeat_avx2(to, back, length) }
    }
}

/// For each period, where in it the 32 bytes of a register come from.
#[cfg(target_arch = "x86_64")]
static PERIODS: [[u8; 32]; 16] = {
    let mut periods = [[0; 32]; 16];
    let mut back = 1;
    while back < 16 {
        let mut i = 0;
        while i < 32 {
            periods[back][i] = (i % back) as u8;
            i += 1;
        }
        back += 1;
    }
    periods
};

/// # Safety
/// As [`copy_match`]'s, and 1 <= `back` < 16.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn repeat_avx2(to: *mut u8, back: usize, length: usize) {
    use std::arch::x86_64::*;
    // SAFETY: by the contract, 16 bytes from `back` before `to` and OVERSHOOT bytes from each `at` < `length` belong
    // to the buffer.
    unsafe {
        let from = to.sub(back);
        let (chunk, step) = if back == 1 {
            // By far the most common; one byte is forwarded from any store.
            (_mm256_set1_epi8(*from as i8), 32)
        } else {
            let first = _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()));
            let order = _mm256_loadu_si256(PERIODS[back & 15].as_ptr().cast());
            (_mm256_shuffle_epi8(first, order), 32 - 32 % back)
        };
        let mut at = 0;
        while at < length {
            _mm256_storeu_si256(to.add(at).cast(), chunk);
            at += step;
        }
    }
}

/// # Safety
/// `N` bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn move_chunk<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: as the contract says; the bytes are read before any is written, so the two may overlap.
    unsafe { to.cast::<[u8; N]>().write_unaligned(from.cast::<[u8; N]>().read_unaligned()) };
}

/// Stores `chunk` at `to`, `to` + `step`, … up to `length`.
///
/// # Safety
/// `step` >= 1; `length` - 1 + `N` bytes are writable at `to`.
#[inline(always)]
unsafe fn repeat_chunk<const N: usize>(chunk: [u8; N], to: *mut u8, step: usize, length: usize) {
    let mut at = 0;
    while at < length {
        // SAFETY: `at` < `length`, so `N` bytes from there are writable by the contract.
        unsafe { to.add(at).cast::<[u8; N]>().write_unaligned(chunk) };
        at += step;
    }
}
