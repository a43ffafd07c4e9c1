//! Match copies: bytes that repeat the bytes a given distance before them, overlaps included.
//!
//! Owns the wide copies that all LZ decoders of this crate share. Never reads a stream; the decoders decide what is
//! copied.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod generic;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod periods;

use crate::tuning::tunable;
#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2Copy;
/// The implementation for every processor of the target: NEON is part of the target for 64-bit ARM.
#[cfg(not(all(target_arch = "aarch64", target_endian = "little")))]
pub(super) use generic::PortableCopy as BaselineCopy;
use generic::copy_with_doubling;
pub(super) use generic::{
    LARGE_MATCH_THRESHOLD, MAX_SHORT_MATCH, MatchCopy, OVERSHOOT, align_loop, cold_path, copy_bytes,
    copy_match, copy_short,
};
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) use neon::NeonCopy as BaselineCopy;

tunable! {
    /// Whether [`copy_large`] has a loop of its own (docs/tuning.md).
    const HAS_LARGE_COPY: bool = true;
}

/// Copies a match of `length` bytes to `out` from `distance` bytes before it. Returns `None` if `distance` is 0, or if
/// the match begins before `dest` or ends behind it.
pub(super) fn copy_match_checked(dest: &mut [u8], out: usize, distance: usize, length: usize) -> Option<()> {
    let end = out.checked_add(length).filter(|&end| end <= dest.len())?;
    if distance == 0 || distance > out {
        return None;
    }
    if length > LARGE_MATCH_THRESHOLD.get() {
        // SAFETY: 1 <= `distance` <= `out`, and `length` bytes from `out` are inside `dest`.
        unsafe { copy_large(dest.as_mut_ptr().add(out), distance, length) };
        return Some(());
    }
    // The bytes behind which OVERSHOOT bytes of `dest` remain.
    let wide = dest.len().saturating_sub(OVERSHOOT).saturating_sub(out).min(length);
    if wide > 0 {
        // SAFETY: 1 <= `distance` <= `out`, and `wide` + OVERSHOOT bytes from `out` are inside `dest`.
        unsafe {
            let to = dest.as_mut_ptr().add(out);
            copy_match::<BaselineCopy>(to, distance, wide)
        }
    }
    if wide < length {
        copy_match_tail(&mut dest[..end], out + wide, distance);
    }
    Some(())
}

/// Copies the rest of a match, from `at` to the end of `dest`: at most [`OVERSHOOT`] bytes.
fn copy_match_tail(dest: &mut [u8], at: usize, distance: usize) {
    let length = dest.len() - at;
    debug_assert!(length <= OVERSHOOT);
    if distance == 1 {
        let byte = dest[at - 1];
        dest[at..].fill(byte);
    } else if distance >= length {
        dest.copy_within(at - distance..at - distance + length, at);
    } else {
        // Copied in another buffer, which has room to overshoot.
        let mut room = [0; 3 * OVERSHOOT];
        room[..distance].copy_from_slice(&dest[at - distance..at]);
        // SAFETY: `distance` < `length` <= OVERSHOOT, so `distance` bytes before and `length` + OVERSHOOT from there
        // are inside `room`.
        unsafe { copy_match::<BaselineCopy>(room.as_mut_ptr().add(distance), distance, length) };
        dest[at..].copy_from_slice(&room[distance..distance + length]);
    }
}

/// Copies a match of more than [`LARGE_MATCH_THRESHOLD`] bytes, and writes nothing behind it.
///
/// # Safety
/// `distance` >= 1; `length` > [`LARGE_MATCH_THRESHOLD`]; `distance` bytes before `to` and `length` bytes from it
/// belong to one buffer.
#[inline(never)]
pub(super) unsafe fn copy_large(to: *mut u8, distance: usize, length: usize) {
    if !HAS_LARGE_COPY.get() {
        // SAFETY: by the contract, `length` bytes from `to` are in the buffer.
        unsafe {
            copy_match::<BaselineCopy>(to, distance, length - OVERSHOOT);
            for at in length - OVERSHOOT..length {
                copy_bytes::<1>(to.add(at).sub(distance), to.add(at));
            }
        }
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the feature has just been detected; `distance`, `length` and the buffer are as the contract of this
        // function says, which is that of the callee.
        unsafe { avx2::copy_large_avx2(to, distance, length) };
        return;
    }
    // SAFETY: `distance`, `length` and the buffer are as the contract of this function says, which is that of the
    // callee.
    unsafe { copy_with_doubling::<BaselineCopy>(to, distance, length) };
}

#[cfg(test)]
mod tests {
    use super::generic::{MIN_STALL_FREE_DISTANCE, PortableCopy};
    use super::*;

    /// Appends a match, which repeats the last `distance` bytes.
    fn append_match(all: &mut Vec<u8>, distance: usize, length: usize) {
        let (start, end) = (all.len() - distance, all.len() + length);
        while all.len() < end {
            // The number of bytes behind `start` is a multiple of the period.
            let len = (end - all.len()).min(all.len() - start);
            all.extend_from_within(start..start + len);
        }
    }

    #[test]
    fn copy_match_checked_is_exact_for_every_distance_and_length() {
        let rooms: &[usize] = if cfg!(miri) { &[0, 31, 65] } else { &[0, 1, 7, 31, 63, 64, 65, 100] };
        let step = if cfg!(miri) { 19 } else { 1 };
        for distance in (1..70).chain([100, 130]).step_by(step) {
            for length in (1..80).chain([100, 200, 300]).step_by(step) {
                for &behind in rooms {
                    let out = 131;
                    let mut dest: Vec<u8> = (0..out + length + behind).map(|at| (at * 7) as u8).collect();
                    let mut expected = dest[..out].to_vec();
                    append_match(&mut expected, distance, length);
                    assert_eq!(copy_match_checked(&mut dest, out, distance, length), Some(()));
                    assert!(dest[..out + length] == expected, "{distance} {length} {behind}");
                }
            }
        }
        let mut dest = [0; 10];
        for (out, distance, length) in [(5, 0, 1), (5, 6, 1), (5, 1, 6), (5, 1, usize::MAX)] {
            assert_eq!(copy_match_checked(&mut dest, out, distance, length), None);
        }
    }

    /// The signature of [`copy_large`].
    type CopyLarge = unsafe fn(*mut u8, usize, usize);

    #[test]
    fn large_copies_write_exactly_the_match() {
        let portable: CopyLarge = copy_with_doubling::<PortableCopy>;
        // Lengths and distances on both sides of the constants.
        let step = if cfg!(miri) { 29 } else { 1 };
        let distances = (1..66)
            .chain([
                120,
                200,
                511,
                512,
                900,
                MIN_STALL_FREE_DISTANCE - 1,
                MIN_STALL_FREE_DISTANCE,
                3 * MIN_STALL_FREE_DISTANCE,
            ])
            .step_by(step);
        let noise: Vec<u8> = (0..7 * MIN_STALL_FREE_DISTANCE).map(|at| (at * 7 + at / 256) as u8).collect();
        for (distance, copy) in
            distances.flat_map(|distance| [(distance, portable), (distance, copy_large as CopyLarge)])
        {
            let step = if cfg!(miri) { 2 } else { 1 };
            let lengths = [
                LARGE_MATCH_THRESHOLD.get() + 1,
                LARGE_MATCH_THRESHOLD.get() + 77,
                MIN_STALL_FREE_DISTANCE + 63,
                MIN_STALL_FREE_DISTANCE + 65,
                3 * MIN_STALL_FREE_DISTANCE + 5,
            ];
            for length in lengths.into_iter().step_by(step) {
                for out in [distance, distance + 1, distance + 40].into_iter().step_by(step) {
                    let mut dest = noise[..out + length + 5].to_vec();
                    let mut expected = dest[..out].to_vec();
                    append_match(&mut expected, distance, length);
                    expected.extend_from_slice(&dest[out + length..]);
                    // SAFETY: `distance` bytes before `out` and `length` bytes from it are inside `dest`.
                    unsafe { copy(dest.as_mut_ptr().add(out), distance, length) };
                    assert!(dest == expected, "{distance} {length} {out}");
                }
            }
        }
    }
}
