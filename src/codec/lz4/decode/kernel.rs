//! The fast loop of the decoder: whole sequences, as long as a fixed number of bytes can be read and written ahead of each.
//!
//! Owns the copies of literals and matches of these sequences. Never writes outside the destination, whatever the block says. It stops
//! before a sequence that it does not handle.
//!
//! The loop is compiled several times. Which form is the fastest depends on the sequences; [`super::sample`] chooses one.

#[cfg(target_arch = "x86_64")]
use crate::codec::match_copy::Avx2;
use crate::codec::match_copy::{
    OVERSHOOT, Periods, Portable, SHORT, align_loop, copy_match, copy_short, move_chunk, unlikely,
};

use super::format::{MIN_MATCH, MORE};
use super::sample::Kind;
use super::walk::{Source, Walk};

/// The largest number of literals that a token can hold without length bytes.
const SHORT_LITERALS: usize = MORE - 1;
/// The size of the copy of short literals, in bytes.
const LITERAL_CHUNK: usize = 16;
/// The size of the copies of more literals, in bytes. At most [`WRITE_AHEAD`].
const LONG_CHUNK: usize = 32;
/// The largest number of literals and the longest match that the loop copies, in bytes. For more, the call of a copy
/// function is worthwhile, but inside the loop it would occupy the loop's registers.
const MANY_LITERALS: usize = 16 << 10;
const LONG_MATCH: usize = 16 << 10;
/// The largest number that two bytes hold.
const MAX_OFFSET: usize = u16::MAX as usize;
/// The number of bytes that are read without a check at the start of a sequence: a token, a chunk of literals, an offset.
pub(super) const READ_AHEAD: usize = 1 + LITERAL_CHUNK + 2;
/// The number of readable bytes behind a block with which the loop decodes all of it.
pub(super) const ROOM_BEHIND: usize = READ_AHEAD + LONG_CHUNK;
/// The length of the shortest sequence with a match: a token and an offset.
const SHORTEST: usize = 1 + 2;
/// The number of bytes that are written without a check: short literals, a short match, and the overshoot of its
/// copy.
pub(super) const WRITE_AHEAD: usize = SHORT_LITERALS + SHORT + OVERSHOOT;
// The longest match whose length fits into a token.
const _: () = assert!(MIN_MATCH + MORE - 1 == SHORT);
const _: () = assert!(LITERAL_CHUNK > SHORT_LITERALS && LONG_CHUNK <= WRITE_AHEAD);

/// Decodes whole sequences of `src` up to the end of a window, and moves `walk` behind them. Stops early before a
/// sequence with too few readable or writable bytes ahead. Returns `None` if the block is bad.
#[inline]
pub(super) fn run(src: &Source<'_>, dest: &mut [u8], walk: &mut Walk) -> Option<()> {
    let end = walk.at + walk.window;
    run_as(src, dest, walk, walk.kind)?;
    if walk.at > end && walk.at < src.len {
        walk.next_window(&src.ahead[..src.len]);
    }
    Some(())
}

/// Decodes a window with the loop for sequences of a `kind`.
#[inline]
pub(super) fn run_as(src: &Source<'_>, dest: &mut [u8], walk: &mut Walk, kind: Kind) -> Option<()> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        let run = match kind {
            Kind::Regular => run_avx2::<false, false>,
            Kind::Mixed => run_avx2::<true, false>,
            Kind::Near => run_avx2::<false, true>,
        };
        // SAFETY: the features have just been detected.
        return unsafe { run(src, dest, walk) };
    }
    run_portable(src, dest, walk, kind)
}

/// The loops for any processor.
#[inline(never)]
pub(super) fn run_portable(src: &Source<'_>, dest: &mut [u8], walk: &mut Walk, kind: Kind) -> Option<()> {
    match kind {
        Kind::Mixed => sequences::<Portable, true, false>(src, dest, walk),
        Kind::Regular | Kind::Near => sequences::<Portable, false, false>(src, dest, walk),
    }
}

/// The loops for processors with 32-byte registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn run_avx2<const MIXED: bool, const NEAR: bool>(
    src: &Source<'_>,
    dest: &mut [u8],
    walk: &mut Walk,
) -> Option<()> {
    sequences::<Avx2, MIXED, NEAR>(src, dest, walk)
}

/// The loop.
///
/// The position of a sequence depends on the number of literals of the previous sequence, which has to be loaded: a
/// latency of about 7 cycles, in which a processor could decode more than one short sequence. Most matches in
/// shuffled numbers follow each other directly. Unless sequences are `MIXED`, a branch tests for literals, and the
/// processor predicts it. If `NEAR`, no branch depends on whether a short match overlaps itself.
#[inline(always)]
fn sequences<P: Periods, const MIXED: bool, const NEAR: bool>(
    src: &Source<'_>,
    dest: &mut [u8],
    walk: &mut Walk,
) -> Option<()> {
    let (Some(last_read), Some(last_write), Some(last_match)) = (
        src.ahead.len().checked_sub(READ_AHEAD),
        dest.len().checked_sub(WRITE_AHEAD),
        src.len.checked_sub(SHORTEST),
    ) else {
        return Some(());
    };
    assert!(src.len <= src.ahead.len());
    // A sequence at `last_match` or before has its token and, without literals, its offset inside the block.
    let last_read = last_read.min(last_match).min(walk.at.saturating_add(walk.window));
    // The loop subtracts offsets from addresses, and the differences must not be negative.
    if walk.at > last_read || walk.out > last_write || dest.as_ptr().addr() < MAX_OFFSET {
        return Some(());
    }
    let (src_start, dest_start) = (src.ahead.as_ptr(), dest.as_mut_ptr());
    // SAFETY: all of these are positions inside the two buffers, or their ends, as just checked.
    let (src_end, readable_end, last_read, mut at) = unsafe {
        let at = |position: usize| src_start.add(position);
        (at(src.len), at(src.ahead.len()), at(last_read), at(walk.at))
    };
    // SAFETY: as above.
    let (dest_end, last_write, mut out) = unsafe {
        let at = |position: usize| dest_start.add(position);
        (at(dest.len()), at(last_write), at(walk.out))
    };
    // The position in the output behind the last literals, if the loop reaches the end of the block.
    let mut content_end = None;
    // Here and at each `continue`, `at` <= `last_read` and `out` <= `last_write`. The loop stops before a sequence
    // that turns out to need more room; bytes that it has already written for it are written again later.
    align_loop();
    loop {
        // SAFETY: `at` <= `last_read`, so a token, a chunk of literals and an offset can be read.
        let token = usize::from(unsafe { at.read() });
        if !MIXED && token < MORE {
            // No literals, and a short match.
            // SAFETY: as above.
            let back = unsafe { read_offset(at.add(1)) };
            if out.wrapping_sub(back) < dest_start || is_bad::<NEAR>(back) {
                // The match is bad, or begins in the dictionary.
                unlikely();
                break;
            }
            // SAFETY: 1 <= `back`, and `back` bytes are before `out` in `dest`. `out` <= `last_write`, so a short match and OVERSHOOT bytes
            // are behind it.
            unsafe {
                token_match::<P, NEAR>(out, back);
                (at, out) = (at.add(SHORTEST), out.add(token + MIN_MATCH));
            }
            if at > last_read {
                unlikely();
                break;
            }
            if out > last_write {
                unlikely();
                break;
            }
            continue;
        }
        // The position behind the literals and the offset, and the end of the literals in the output.
        // SAFETY: `at` <= `last_read`.
        let (mut next, mut end) = (unsafe { at.add(SHORTEST) }, out);
        let literals = token >> 4;
        if !MIXED && literals == 0 {
            // Continue with the match.
        } else if literals <= SHORT_LITERALS {
            // SAFETY: as above, and `out` <= `last_write`, so a chunk is inside `dest`.
            unsafe {
                move_chunk::<LITERAL_CHUNK>(at.add(1), end);
                (next, end) = (opaque(next).add(literals), end.add(literals));
            }
        } else {
            unlikely();
            // SAFETY: both lie behind the token and before an offset that can be read.
            let (mut literals, mut from) = unsafe { (MORE + usize::from(at.add(1).read()), at.add(2)) };
            if literals == MORE + 255 {
                unlikely();
                // SAFETY: `from` <= `src_end`: behind the token, which is inside the block, at least two bytes are.
                literals += unsafe { more_length(&mut from, src_end) }?;
            }
            // SAFETY: `from` <= `src_end` <= `readable_end`, and `end` <= `last_write`.
            let (left, readable, writable) = unsafe {
                (
                    src_end.offset_from_unsigned(from),
                    readable_end.offset_from_unsigned(from),
                    last_write.offset_from_unsigned(end),
                )
            };
            // Behind the literals, a chunk more may be read, and a chunk or a short match be written.
            if literals > MANY_LITERALS || literals > writable || literals + LONG_CHUNK > readable {
                unlikely();
                break;
            }
            if literals + 2 > left && literals != left {
                // The offset is missing.
                unlikely();
                break;
            }
            // All later work depends on the position of the next sequence, so it is computed before the copy.
            // SAFETY: both buffers have the literals and a chunk, as just checked.
            unsafe {
                let start = end;
                (next, end) = (from.add(literals + 2), end.add(literals));
                copy_literals(from, start, end);
            }
        }
        // SAFETY: the offset begins in the chunk behind the literals, with a byte or more of the chunk behind it: READ_AHEAD holds both.
        let back = unsafe { read_offset(next.sub(2)) };
        let length = token & 0xf;
        let is_outside = end.wrapping_sub(back) < dest_start;
        if is_outside || length == MORE {
            unlikely();
            if next > src_end {
                // These bytes are no offset: the block ends with the literals, or the block is bad.
                content_end = (next.addr() == src_end.addr() + 2).then_some(end);
                break;
            }
            if back == 0 || is_outside {
                // The match is bad, or begins in the dictionary.
                break;
            }
            // SAFETY: `next` <= `src_end`, as just checked.
            let length = MORE + MIN_MATCH + unsafe { more_length(&mut next, src_end) }?;
            // SAFETY: both are positions in `dest`.
            let writable = unsafe { dest_end.offset_from_unsigned(end) };
            if length > LONG_MATCH || length > writable || writable - length < OVERSHOOT {
                break;
            }
            // SAFETY: 1 <= `back`, and `back` bytes are before `end`; `length` and OVERSHOOT bytes are inside `dest`, as just checked.
            unsafe {
                copy_match::<P>(end, back, length);
                (at, out) = (next, end.add(length));
            }
            if at > last_read || out > last_write {
                break;
            }
            continue;
        }
        if is_bad::<NEAR>(back) {
            unlikely();
            content_end = (next.addr() == src_end.addr() + 2).then_some(end);
            break;
        }
        // If the block ends with these literals, `back` is no offset, and garbage is written behind the content.
        // SAFETY: 1 <= `back`, and `back` bytes are before `end`. A short match and OVERSHOOT bytes are inside `dest`: by WRITE_AHEAD after short literals,
        // because `end` <= `last_write` after long ones.
        unsafe { token_match::<P, NEAR>(end, back) };
        // SAFETY: as above.
        let after = unsafe { end.add(length + MIN_MATCH) };
        if next > last_read {
            unlikely();
            if next <= src_end {
                (at, out) = (next, after);
            } else {
                content_end = (next.addr() == src_end.addr() + 2).then_some(end);
            }
            break;
        }
        (at, out) = (next, after);
        if out > last_write {
            unlikely();
            break;
        }
    }
    // SAFETY: all are positions in the two buffers.
    unsafe {
        (walk.at, walk.out) = match content_end {
            Some(end) => (src.len + 1, end.offset_from_unsigned(dest_start)),
            None => (at.offset_from_unsigned(src_start), out.offset_from_unsigned(dest_start)),
        };
    }
    Some(())
}

/// Returns `at` as a value that is opaque to the optimiser.
///
/// The next sequence begins at `at` + 3 + literals, where the number of literals is known last. The compiler would
/// add the 3 to the sum of the others: one more cycle in a dependency chain of 7 cycles.
#[inline(always)]
fn opaque(at: *const u8) -> *const u8 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let at = {
        let mut at = at;
        // SAFETY: no instruction.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) at, options(pure, readonly, nostack, preserves_flags))
        };
        at
    };
    at
}

/// Returns the two bytes at `at` as an offset.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn read_offset(at: *const u8) -> usize {
    // SAFETY: by the contract.
    usize::from(u16::from_le(unsafe { at.cast::<u16>().read_unaligned() }))
}

/// Returns the sum of the bytes of a length at `at`, and moves `at` behind them. `None` if they do not end before `end`.
///
/// # Safety
/// `at` <= `end`, and the bytes from `at` to `end` are readable.
#[inline(always)]
unsafe fn more_length(at: &mut *const u8, end: *const u8) -> Option<usize> {
    let mut length = 0;
    loop {
        if *at >= end {
            return None;
        }
        // SAFETY: `at` < `end`.
        let more = usize::from(unsafe { at.read() });
        // SAFETY: as above.
        *at = unsafe { at.add(1) };
        // At most 255 for each byte of a block, so it cannot overflow.
        length += more;
        if more != 255 {
            return Some(length);
        }
    }
}

/// Copies literals to the places from `to` to `end`, one or more, and up to a chunk more.
///
/// # Safety
/// As many bytes and LONG_CHUNK more are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_literals(mut from: *const u8, mut to: *mut u8, end: *const u8) {
    // SAFETY: by the contract: each chunk begins before `end`.
    unsafe {
        // Most are no more than a chunk.
        move_chunk::<LONG_CHUNK>(from, to);
        loop {
            (from, to) = (from.add(LONG_CHUNK), to.add(LONG_CHUNK));
            if to.cast_const() >= end {
                break;
            }
            move_chunk::<LONG_CHUNK>(from, to);
        }
    }
}

/// Returns whether an offset is 0.
///
/// Offsets below 8 take another branch than the others, unless matches are `NEAR`: with this comparison, the usual
/// offset is compared once.
#[inline(always)]
fn is_bad<const NEAR: bool>(back: usize) -> bool {
    (NEAR || back < 8) && back == 0
}

/// Copies a match whose length fits into a token.
///
/// # Safety
/// The same as for [`Periods::copy_short_anywhere`].
#[inline(always)]
unsafe fn token_match<P: Periods, const NEAR: bool>(to: *mut u8, back: usize) {
    // SAFETY: by the contract.
    unsafe {
        if NEAR {
            P::copy_short_anywhere(to, back);
        } else if back < 8 {
            unlikely();
            P::repeat_short(to, back);
        } else {
            copy_short(to, back);
        }
    }
}
