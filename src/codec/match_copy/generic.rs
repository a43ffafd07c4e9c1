//! The copies that every instruction set shares, and the implementation without SIMD.

use crate::tuning::tunable;

/// The number of bytes behind its end that a match copy may overwrite.
pub(in crate::codec) const OVERSHOOT: usize = 64;

/// The greatest match length, in bytes, of [`copy_short`].
pub(in crate::codec) const MAX_SHORT_MATCH: usize = 18;

tunable! {
    /// The greatest match length, in bytes, for which [`copy_match`] is about as fast as
    /// [`copy_large`](super::copy_large) at every distance.
    pub(in crate::codec) const LARGE_MATCH_THRESHOLD: usize = 512;
}

/// The least distance, in bytes, at which loads do not wait for the stores before them: the size of the 64 stores of 32
/// bytes that can be in the store buffer, and much less than the size of the L1 cache.
pub(super) const MIN_STALL_FREE_DISTANCE: usize = 2048;

/// Copies a match of `length` bytes to `to` from `distance` bytes before it. May write garbage behind the match.
///
/// Loads that overlap recent stores stall the processor, so a short period is loaded once and stored repeatedly, in
/// steps of whole periods.
///
/// # Safety
/// `distance` >= 1; `distance` bytes before `to` and `length` + [`OVERSHOOT`] bytes from it belong to one buffer.
#[inline(always)]
pub(in crate::codec) unsafe fn copy_match<P: MatchCopy>(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: by the contract, `from` .. `to` + `length` + OVERSHOOT is inside one buffer. Every load below
    // begins at most `length` after `from` and is at most OVERSHOOT long; every store begins less than `length`
    // after `to` and is at most OVERSHOOT long.
    unsafe {
        let from = to.sub(distance);
        if distance >= 32 {
            if length <= 32 {
                copy_bytes::<32>(from, to);
            } else if distance >= 64 {
                let mut at = 0;
                align_loop();
                while at < length {
                    copy_bytes::<32>(from.add(at), to.add(at));
                    at += 32;
                }
            } else {
                // The period in two parts, both read before anything is written.
                let head = from.cast::<[u8; 32]>().read_unaligned();
                let tail = to.sub(32).cast::<[u8; 32]>().read_unaligned();
                let mut at = 0;
                align_loop();
                while at < length {
                    to.add(at).cast::<[u8; 32]>().write_unaligned(head);
                    to.add(at + distance - 32).cast::<[u8; 32]>().write_unaligned(tail);
                    at += distance;
                }
            }
        } else if distance >= 16 {
            if length <= 16 {
                copy_bytes::<16>(from, to);
            } else {
                store_repeatedly(from.cast::<[u8; 32]>().read_unaligned(), to, distance, length);
            }
        } else {
            P::repeat_period(to, distance, length);
        }
    }
}

/// Copies a match of more than [`LARGE_MATCH_THRESHOLD`] bytes. From a distance of [`OVERSHOOT`] bytes on, the distance of
/// its loads is a multiple of `distance` that doubles whenever enough bytes have been written.
///
/// A load that overlaps a store which has not reached the cache yet waits for it, unless the store covers all bytes of
/// the load. At distances less than [`MIN_STALL_FREE_DISTANCE`], the loop of [`copy_match`] would wait repeatedly.
/// (`memcpy` is up to twenty times slower where it uses `rep movsb`, for some addresses even for parts of 4 KiB.)
///
/// # Safety
/// As [`copy_large`](super::copy_large)'s.
#[inline(always)]
pub(super) unsafe fn copy_with_doubling<P: MatchCopy>(to: *mut u8, distance: usize, length: usize) {
    // The last chunk ends where the match does, so that the chunks before it can go up to OVERSHOOT beyond `body`.
    let body = length - OVERSHOOT;
    let (mut done, mut load_distance) = (0, distance);
    if distance < OVERSHOOT {
        // SAFETY: by the contract, `length` = `body` + OVERSHOOT bytes from `to` are in the buffer.
        unsafe { copy_match::<P>(to, distance, body) };
        done = body;
        load_distance = OVERSHOOT.next_multiple_of(distance);
    }
    while done < body {
        while load_distance < MIN_STALL_FREE_DISTANCE && 2 * load_distance <= distance + done {
            load_distance *= 2;
        }
        let left = body - done;
        let part = if load_distance < MIN_STALL_FREE_DISTANCE { load_distance.min(left) } else { left };
        // SAFETY: each chunk begins before `body`, so it ends in the match. The bytes read begin at most `distance`
        // before `to`, and are OVERSHOOT bytes or more before the chunk, so they have been written.
        unsafe {
            let to = to.add(done);
            let from = to.sub(load_distance);
            let mut at = 0;
            align_loop();
            while at < part {
                copy_bytes::<OVERSHOOT>(from.add(at), to.add(at));
                at += OVERSHOOT;
            }
        }
        done += part;
    }
    // SAFETY: the chunk is the end of the match. `done` = `body`, so the bytes read have been written; `load_distance` <=
    // `distance` + `body`, because `body` is more than 2 * OVERSHOOT.
    unsafe { copy_bytes::<OVERSHOOT>(to.add(body).sub(load_distance), to.add(body)) };
}

/// Match copies that depend on the instruction set: of periods shorter than 16 bytes.
pub(in crate::codec) trait MatchCopy {
    /// Writes `length` bytes at `to` that repeat the `distance` bytes before it. May write garbage behind them.
    ///
    /// # Safety
    /// As [`copy_match`]'s, and `distance` < 16.
    unsafe fn repeat_period(to: *mut u8, distance: usize, length: usize);

    /// As [`repeat_period`](Self::repeat_period) for `distance` < 8 and lengths of up to 32; always writes 32 bytes.
    ///
    /// # Safety
    /// `distance` is 1 to 7; `distance` bytes before `to` and [`OVERSHOOT`] bytes from it belong to one buffer.
    unsafe fn repeat_period_32(to: *mut u8, distance: usize);
}

/// Copies a match of up to [`MAX_SHORT_MATCH`] bytes from `distance` bytes before `to`, where `distance` >= 8. Always
/// writes [`MAX_SHORT_MATCH`] bytes.
///
/// # Safety
/// `distance` bytes before `to` and [`OVERSHOOT`] bytes from it belong to one buffer.
#[inline(always)]
pub(in crate::codec) unsafe fn copy_short(to: *mut u8, distance: usize) {
    // SAFETY: all moves lie between `distance` before `to` and MAX_SHORT_MATCH behind it.
    unsafe {
        let from = to.sub(distance);
        copy_bytes::<8>(from, to);
        copy_bytes::<8>(from.add(8), to.add(8));
        copy_bytes::<2>(from.add(16), to.add(16));
    }
}

/// The implementation for every processor: repeats a period in two words.
#[cfg(any(test, not(all(target_arch = "aarch64", target_endian = "little"))))]
pub(in crate::codec) struct PortableCopy;

#[cfg(any(test, not(all(target_arch = "aarch64", target_endian = "little"))))]
impl MatchCopy for PortableCopy {
    #[inline(always)]
    unsafe fn repeat_period(to: *mut u8, distance: usize, length: usize) {
        // SAFETY: by the contract, 16 bytes from `distance` before `to` and OVERSHOOT bytes from each `at` <
        // `length` belong to the buffer.
        unsafe {
            let mut period = u128::from_le_bytes(to.sub(distance).cast::<[u8; 16]>().read_unaligned());
            period &= (1 << (distance * 8)) - 1;
            let mut filled = distance;
            while filled < 16 {
                period |= period << (filled * 8);
                filled *= 2;
            }
            store_repeatedly(period.to_le_bytes(), to, 16 / distance * distance, length);
        }
    }

    #[inline(always)]
    unsafe fn repeat_period_32(to: *mut u8, distance: usize) {
        // SAFETY: by the contract `distance` bytes before `to` and OVERSHOOT bytes from it are in the buffer; the
        // callee's stores begin before 32 and are 16 bytes long.
        unsafe { Self::repeat_period(to, distance, 32) }
    }
}

/// Aligns the code behind the call, the start of a loop, to a cache line.
///
/// A short loop that crosses the end of a cache line takes up to twice as long; without the alignment, the address that
/// the linker gives to the function determines which loops do.
#[inline(always)]
pub(in crate::codec) fn align_loop() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the directive emits no instructions except no-operations.
    unsafe {
        std::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
    }
}

/// Marks the branch that calls it as unlikely: the compiler moves its code behind the loop. The usual sequence then
/// executes without a jump, which saves 10 % to 20 % of the time of short sequences.
#[inline]
#[cold]
pub(in crate::codec) fn cold_path() {}

/// Copies `N` bytes. The two places may overlap.
///
/// # Safety
/// `N` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(in crate::codec) unsafe fn copy_bytes<const N: usize>(from: *const u8, to: *mut u8) {
    // A copy as an array goes through the stack in some loops, which halves their speed.
    // SAFETY: by the contract `N` bytes are readable at `from` and writable at `to`; they may overlap.
    unsafe { to.copy_from(from, N) };
}

/// Stores `chunk` at `to`, `to` + `step`, … up to `length`.
///
/// # Safety
/// `step` >= 1; `length` - 1 + `N` bytes are writable at `to`.
#[inline(always)]
unsafe fn store_repeatedly<const N: usize>(chunk: [u8; N], to: *mut u8, step: usize, length: usize) {
    let mut at = 0;
    align_loop();
    while at < length {
        // SAFETY: `at` < `length`, so `N` bytes from there are writable by the contract.
        unsafe { to.add(at).cast::<[u8; N]>().write_unaligned(chunk) };
        at += step;
    }
}
