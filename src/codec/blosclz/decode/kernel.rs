//! The fast loop of the decoder: whole tokens, as long as a fixed number of bytes can be read and written ahead of
//! each.
//!
//! Owns the copies of these tokens. Never writes outside the destination, whatever the stream says. It stops before a
//! token that it does not handle.

#[cfg(target_arch = "x86_64")]
use crate::codec::match_copy::Avx2Copy;
use crate::codec::match_copy::{
    BaselineCopy, LARGE_MATCH_THRESHOLD, MatchCopy, OVERSHOOT, align_loop, cold_path, copy_bytes, copy_large,
    copy_match,
};

use super::state::StreamDecoder;
use crate::codec::blosclz::format::{EXTENDED_LENGTH_CODE, MAX_LITERALS, MAX_NEAR_DISTANCE};

/// The number of bytes that are read without a check at the start of a token: a control byte and the largest number
/// of literals. The bytes of a match behind its length are fewer.
pub(super) const READ_AHEAD: usize = 1 + MAX_LITERALS;
/// The number of bytes that are written without a check: the largest number of literals, or the overshoot of a match
/// copy.
pub(super) const WRITE_AHEAD: usize = MAX_SHORT_MATCH_LEN + OVERSHOOT;
/// The length of the longest match whose length fits into the control byte.
const MAX_SHORT_MATCH_LEN: usize = EXTENDED_LENGTH_CODE - 1 + 2;
const _: () = assert!(WRITE_AHEAD >= MAX_LITERALS);

/// Decodes whole tokens of a stream and advances `decoder` behind them. Stops before a token with too few readable or
/// writable bytes ahead, and before a match that is bad or ends the stream. Returns `None` if literals extend beyond
/// one of the ends.
#[inline]
pub(super) fn decode_fast(decoder: &mut StreamDecoder<'_>) -> Option<()> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        // SAFETY: the features have just been detected.
        return unsafe { decode_fast_avx2(decoder) };
    }
    decode_fast_portable(decoder)
}

/// The loop for any processor.
#[inline(never)]
pub(super) fn decode_fast_portable(decoder: &mut StreamDecoder<'_>) -> Option<()> {
    decode_fast_loop::<BaselineCopy>(decoder)
}

/// The loop for processors with 32-byte registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn decode_fast_avx2(decoder: &mut StreamDecoder<'_>) -> Option<()> {
    decode_fast_loop::<Avx2Copy>(decoder)
}

#[inline(always)]
fn decode_fast_loop<P: MatchCopy>(decoder: &mut StreamDecoder<'_>) -> Option<()> {
    let (Some(last_read), Some(last_write), Some(last_token)) = (
        decoder.readable_src.len().checked_sub(READ_AHEAD),
        decoder.dest.len().checked_sub(WRITE_AHEAD),
        decoder.src.len().checked_sub(1),
    ) else {
        return Some(());
    };
    let last_read = last_read.min(last_token);
    let last_write = last_write.min(decoder.wanted_len);
    if decoder.ip > last_read || decoder.op > last_write {
        return Some(());
    }
    let mut control = decoder.control_byte();
    let (src, dest) = (decoder.readable_src.as_ptr(), decoder.dest.as_mut_ptr());
    let (mut ip, mut op) = (decoder.ip, decoder.op);
    align_loop();
    loop {
        // Here `ip` <= `last_read` and `op` <= `last_write`, so READ_AHEAD bytes of input can be read and WRITE_AHEAD
        // bytes of output written.
        if control < MAX_LITERALS {
            // SAFETY: READ_AHEAD holds a control byte and as many literals, WRITE_AHEAD the literals.
            unsafe { copy_bytes::<MAX_LITERALS>(src.add(ip + 1), dest.add(op)) };
            (ip, op) = (ip + control + 2, op + control + 1);
            if ip > last_read || op > last_write {
                cold_path();
                break;
            }
        } else if control < EXTENDED_LENGTH_CODE << 5 {
            // SAFETY: READ_AHEAD holds a control byte and a distance.
            let (distance, next) = unsafe { read_distance(control, src, ip + 1) };
            // A match that this loop copies is followed by another token.
            if next > last_read || distance > op {
                cold_path();
                break;
            }
            // SAFETY: 1 <= `distance` <= `op`, and WRITE_AHEAD bytes from `op`, a short match and OVERSHOOT, are in `dest`.
            unsafe { copy_short_match::<P>(dest.add(op), distance) };
            (ip, op) = (next, op + (control >> 5) + 2);
            if op > last_write {
                cold_path();
                break;
            }
        } else {
            // SAFETY: READ_AHEAD holds a control byte and a byte of the length.
            let mut more = usize::from(unsafe { *src.add(ip + 1) });
            let (mut length, mut next) = (EXTENDED_LENGTH_CODE + 2 + more, ip + 2);
            while more == 255 && next <= last_read {
                cold_path();
                // SAFETY: `next` <= `last_read`.
                more = usize::from(unsafe { *src.add(next) });
                length = length.saturating_add(more);
                next += 1;
            }
            // SAFETY: `next` is at most 2 behind `last_read`; READ_AHEAD holds these and a distance.
            let (distance, next) = unsafe { read_distance(control, src, next) };
            if next > last_read || distance > op {
                cold_path();
                break;
            }
            // SAFETY: `op` <= `last_write`.
            let to = unsafe { dest.add(op) };
            if length <= LARGE_MATCH_THRESHOLD.get() && length <= last_write - op {
                // SAFETY: 1 <= `distance` <= `op`, and `length` and WRITE_AHEAD bytes from `op` are in `dest`.
                unsafe { copy_match::<P>(to, distance, length) };
                (ip, op) = (next, op + length);
            } else {
                cold_path();
                if length <= LARGE_MATCH_THRESHOLD.get() || length > last_write + WRITE_AHEAD - op {
                    break;
                }
                // SAFETY: 1 <= `distance` <= `op`, and `length` bytes from `op` are in `dest`.
                unsafe { copy_large(to, distance, length) };
                (ip, op) = (next, op + length);
                if op > last_write {
                    break;
                }
            }
        }
        // SAFETY: `ip` <= `last_read`.
        control = usize::from(unsafe { *src.add(ip) });
    }
    (decoder.ip, decoder.op) = (ip, op);
    // The bytes behind the ends do not belong to the stream and the output.
    (ip <= decoder.src.len() && op <= decoder.dest_len).then_some(())
}

/// Copies a match whose length fits into the control byte.
///
/// The distances of successive matches are often random, so there is one branch on them; that of [`copy_match`] has three.
///
/// # Safety
/// `distance` >= 1; `distance` bytes before `to` and [`WRITE_AHEAD`] bytes from it belong to one buffer.
#[inline(always)]
unsafe fn copy_short_match<P: MatchCopy>(to: *mut u8, distance: usize) {
    // SAFETY: by the contract: both write OVERSHOOT bytes at most.
    unsafe {
        if distance < MAX_SHORT_MATCH_LEN {
            cold_path();
            P::repeat_period_32(to, distance);
        } else {
            copy_bytes::<MAX_SHORT_MATCH_LEN>(to.sub(distance), to);
        }
    }
}

/// Returns the distance of a match with a `control` byte whose other distance bytes are at `src[at]`, and the
/// position behind them.
///
/// # Safety
/// 3 bytes are readable there.
#[inline(always)]
unsafe fn read_distance(control: usize, src: *const u8, at: usize) -> (usize, usize) {
    // SAFETY: by the contract.
    unsafe {
        let near = (control % 32) << 8 | usize::from(*src.add(at));
        if near < MAX_NEAR_DISTANCE {
            return (near + 1, at + 1);
        }
        let far = usize::from(u16::from_be_bytes([*src.add(at + 1), *src.add(at + 2)]));
        (near + far + 1, at + 3)
    }
}
