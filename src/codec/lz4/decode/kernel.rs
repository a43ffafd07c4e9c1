//! The fast loop of the decoder: whole sequences, as long as a fixed number of bytes can be read and written ahead of
//! each.
//!
//! Owns the copies of literals and matches of these sequences. Never writes outside the destination, whatever the block
//! says. It stops before a sequence that it does not handle. The loop is compiled with and without AVX2.

#[cfg(target_arch = "x86_64")]
use crate::codec::match_copy::Avx2Copy;
use crate::codec::match_copy::{
    BaselineCopy, MAX_SHORT_MATCH, MatchCopy, OVERSHOOT, align_loop, cold_path, copy_bytes, copy_match,
    copy_short,
};

use super::format::{MAX_NIBBLE, MIN_MATCH};
use super::progress::{BlockWithSlack, DecodeProgress};

/// The largest number of literals that a token can hold without length bytes.
const MAX_SHORT_LITERALS: usize = MAX_NIBBLE - 1;
/// The size of the copy of short literals, in bytes.
const SHORT_COPY_LEN: usize = 16;
/// The size of the copies of more literals, in bytes. At most [`WRITE_AHEAD`].
const LONG_COPY_LEN: usize = 64;
/// The largest number that two bytes hold.
const MAX_OFFSET: usize = u16::MAX as usize;
/// The number of bytes that are read without a check at the start of a sequence: a token, a chunk of literals, an
/// offset.
pub(super) const READ_AHEAD: usize = 1 + SHORT_COPY_LEN + 2;
/// The number of readable bytes behind a block with which the loop decodes all of it.
pub(super) const BLOCK_SLACK: usize = READ_AHEAD + LONG_COPY_LEN;
/// The length of the shortest sequence with a match: a token and an offset.
const MIN_SEQUENCE_LEN: usize = 1 + 2;
/// The number of bytes that are written without a check: short literals, a short match, and the overshoot of its
/// copy.
pub(super) const WRITE_AHEAD: usize = MAX_SHORT_LITERALS + MAX_SHORT_MATCH + OVERSHOOT;
// The longest match whose length fits into a token.
const _: () = assert!(MIN_MATCH + MAX_NIBBLE - 1 == MAX_SHORT_MATCH);
const _: () = assert!(SHORT_COPY_LEN > MAX_SHORT_LITERALS && LONG_COPY_LEN <= WRITE_AHEAD);

/// Decodes whole sequences of `src`, and moves `progress` behind them. Stops before a sequence with too few readable or
/// writable bytes ahead. Returns `None` if the block is bad.
#[inline]
pub(super) fn decode_sequences(
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    progress: &mut DecodeProgress,
) -> Option<()> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        // SAFETY: the features have just been detected.
        return unsafe { decode_sequences_avx2(src, dest, progress) };
    }
    decode_sequences_portable(src, dest, progress)
}

/// The loop for any processor.
#[inline(never)]
pub(super) fn decode_sequences_portable(
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    progress: &mut DecodeProgress,
) -> Option<()> {
    run_loop::<BaselineCopy>(src, dest, progress)
}

/// The loop for processors with 32-byte registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn decode_sequences_avx2(
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    progress: &mut DecodeProgress,
) -> Option<()> {
    run_loop::<Avx2Copy>(src, dest, progress)
}

/// The loop.
///
/// The position of a sequence depends on the number of literals of the previous sequence, which has to be loaded: a
/// latency of about 7 cycles. No branch depends on whether a sequence has literals.
#[inline(always)]
fn run_loop<P: MatchCopy>(
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    progress: &mut DecodeProgress,
) -> Option<()> {
    let (Some(last_read), Some(last_write), Some(last_match)) = (
        src.readable.len().checked_sub(READ_AHEAD),
        dest.len().checked_sub(WRITE_AHEAD),
        src.len.checked_sub(MIN_SEQUENCE_LEN),
    ) else {
        return Some(());
    };
    assert!(src.len <= src.readable.len());
    // A sequence at `last_match` or before has its token and, without literals, its offset inside the block.
    let last_read = last_read.min(last_match);
    // The loop subtracts offsets from addresses, and the differences must not be negative.
    if progress.at > last_read || progress.out > last_write || dest.as_ptr().addr() < MAX_OFFSET {
        return Some(());
    }
    let (src_start, dest_start) = (src.readable.as_ptr(), dest.as_mut_ptr());
    // SAFETY: all of these are positions inside the two buffers, or their ends, as just checked.
    let (src_end, readable_end, last_read, mut at) = unsafe {
        let at = |position: usize| src_start.add(position);
        (at(src.len), at(src.readable.len()), at(last_read), at(progress.at))
    };
    // SAFETY: positions inside `dest`, or its end, as just checked.
    let (dest_end, last_write, mut out) = unsafe {
        let at = |position: usize| dest_start.add(position);
        (at(dest.len()), at(last_write), at(progress.out))
    };
    // The position in the output behind the last literals, if the loop reaches the end of the block.
    let mut content_end = None;
    // Here and at each `continue`, `at` <= `last_read` and `out` <= `last_write`. The loop stops before a sequence
    // that turns out to need more room; bytes that it has already written for it are written again later.
    align_loop();
    loop {
        // SAFETY: `at` <= `last_read`, so a token, a chunk of literals and an offset can be read.
        let token = usize::from(unsafe { at.read() });
        // The position behind the literals and the offset, and the end of the literals in the output.
        // SAFETY: `at` <= `last_read`.
        let (mut next, mut end) = (unsafe { at.add(MIN_SEQUENCE_LEN) }, out);
        let literals = token >> 4;
        if literals <= MAX_SHORT_LITERALS {
            // SAFETY: `at` <= `last_read`: a chunk can be read behind the token; `out` <= `last_write`: it is inside
            // `dest`.
            unsafe {
                copy_bytes::<SHORT_COPY_LEN>(at.add(1), end);
                (next, end) = (hide_from_optimiser(next).add(literals), end.add(literals));
            }
        } else {
            cold_path();
            // SAFETY: both lie behind the token and before an offset that can be read.
            let (mut literals, mut from) = unsafe { (MAX_NIBBLE + usize::from(at.add(1).read()), at.add(2)) };
            if literals == MAX_NIBBLE + 255 {
                cold_path();
                // SAFETY: `from` <= `src_end`: behind the token, which is inside the block, at least two bytes are.
                literals += unsafe { read_length_bytes(&mut from, src_end) }?;
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
            if literals > writable || literals + LONG_COPY_LEN > readable {
                cold_path();
                break;
            }
            if literals + 2 > left && literals != left {
                // The offset is missing.
                cold_path();
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
        // SAFETY: the offset begins in the chunk behind the literals, with a byte or more of the chunk behind it:
        // READ_AHEAD holds both.
        let distance = unsafe { read_offset(next.sub(2)) };
        let length = token & 0xf;
        let is_outside = end.wrapping_sub(distance) < dest_start;
        if is_outside || length == MAX_NIBBLE {
            cold_path();
            if next > src_end {
                // These bytes are no offset: the block ends with the literals, or the block is bad.
                content_end = (next.addr() == src_end.addr() + 2).then_some(end);
                break;
            }
            if distance == 0 || is_outside {
                // The match is bad, or begins in the dictionary.
                break;
            }
            // SAFETY: `next` <= `src_end`, as just checked.
            let length = MAX_NIBBLE + MIN_MATCH + unsafe { read_length_bytes(&mut next, src_end) }?;
            // SAFETY: both are positions in `dest`.
            let writable = unsafe { dest_end.offset_from_unsigned(end) };
            if length > writable || writable - length < OVERSHOOT {
                break;
            }
            // SAFETY: 1 <= `distance`, and `distance` bytes are before `end`; `length` and OVERSHOOT bytes are inside
            // `dest`, as just checked.
            unsafe {
                copy_match::<P>(end, distance, length);
                (at, out) = (next, end.add(length));
            }
            if at > last_read || out > last_write {
                break;
            }
            continue;
        }
        if is_zero_offset(distance) {
            cold_path();
            content_end = (next.addr() == src_end.addr() + 2).then_some(end);
            break;
        }
        // If the block ends with these literals, `distance` is no offset, and garbage is written behind the content.
        // SAFETY: 1 <= `distance`, and `distance` bytes are before `end`. A short match and OVERSHOOT bytes are inside
        // `dest`: by WRITE_AHEAD after short literals, because `end` <= `last_write` after long ones.
        unsafe { copy_token_match::<P>(end, distance) };
        // SAFETY: the match ends inside `dest`, or OVERSHOOT bytes are behind its start, as for the copy.
        let after = unsafe { end.add(length + MIN_MATCH) };
        if next > last_read {
            cold_path();
            if next <= src_end {
                (at, out) = (next, after);
            } else {
                content_end = (next.addr() == src_end.addr() + 2).then_some(end);
            }
            break;
        }
        (at, out) = (next, after);
        if out > last_write {
            cold_path();
            break;
        }
    }
    // SAFETY: all are positions in the two buffers.
    unsafe {
        (progress.at, progress.out) = match content_end {
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
fn hide_from_optimiser(at: *const u8) -> *const u8 {
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

/// Returns the sum of the bytes of a length at `at`, and moves `at` behind them. `None` if they do not end before
/// `end`.
///
/// # Safety
/// `at` <= `end`, and the bytes from `at` to `end` are readable.
#[inline(always)]
unsafe fn read_length_bytes(at: &mut *const u8, end: *const u8) -> Option<usize> {
    let mut length = 0;
    loop {
        if *at >= end {
            return None;
        }
        // SAFETY: `at` < `end`.
        let more = usize::from(unsafe { at.read() });
        // SAFETY: `at` < `end`, so the result is `end` at most.
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
/// As many bytes and LONG_COPY_LEN more are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_literals(mut from: *const u8, mut to: *mut u8, end: *const u8) {
    // SAFETY: by the contract: each chunk begins before `end`.
    unsafe {
        // Most are no more than a chunk.
        copy_bytes::<LONG_COPY_LEN>(from, to);
        loop {
            (from, to) = (from.add(LONG_COPY_LEN), to.add(LONG_COPY_LEN));
            if to.cast_const() >= end {
                break;
            }
            copy_bytes::<LONG_COPY_LEN>(from, to);
        }
    }
}

/// Returns whether an offset is 0.
///
/// Offsets below 8 take another branch than the others: with this comparison, the usual offset is compared once.
#[inline(always)]
fn is_zero_offset(distance: usize) -> bool {
    distance < 8 && distance == 0
}

/// Copies a match whose length fits into a token.
///
/// # Safety
/// The same as for [`copy_short`], for any `distance` from 1 on.
#[inline(always)]
unsafe fn copy_token_match<P: MatchCopy>(to: *mut u8, distance: usize) {
    // SAFETY: by the contract.
    unsafe {
        if distance < 8 {
            cold_path();
            P::repeat_period_32(to, distance);
        } else {
            copy_short(to, distance);
        }
    }
}
