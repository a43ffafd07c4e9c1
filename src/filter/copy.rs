//! Copies blocks and streams that are not compressed: the identity filter.
//!
//! Owns the only function for large copies.
//!
//! The C library's `memcpy` uses `rep movsb` from 2 KiB on if the processor reports it as fast. On AMD's Zen 3 and
//! Zen 4 that is 17 times *slower* if the destination is 1 to 15 bytes behind the source modulo 4096, which depends
//! only on the addresses of the caller's buffers. The speed of a loop over vectors does not depend on them.

use super::cpu::{self, SimdLevel};
#[cfg(target_arch = "x86_64")]
use super::cpu::{MIN_PREFETCHED_LEN, prefetch_output};
use std::mem::MaybeUninit;
use std::ptr;

/// The smallest length, in bytes, for which the vector loop is used: from here on the C library's copy may be slow;
/// below, it is the faster one.
#[cfg(any(target_arch = "x86_64", test))]
const MIN_VECTOR_COPY: usize = 2048;

/// The largest length, in bytes, for which the vector loop is used: data that does not fit into the caches is better
/// copied with non-temporal stores, as in the C library.
#[cfg(any(target_arch = "x86_64", test))]
const MAX_VECTOR_COPY: usize = 4 << 20;

/// Copies `src` to `dest`.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub(crate) fn copy(src: &[u8], dest: &mut [u8]) {
    copy_at(cpu::level(), src, dest);
}

/// Copies `src` to uninitialised memory, all of which is initialised afterwards.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub(crate) fn copy_to_uninit(src: &[u8], dest: &mut [MaybeUninit<u8>]) {
    copy_to_uninit_at(cpu::level(), src, dest);
}

/// [`copy`] with the kernel of one level.
///
/// # Panics
/// The same as for [`copy`].
#[inline]
pub(crate) fn copy_at(level: SimdLevel, src: &[u8], dest: &mut [u8]) {
    // SAFETY: initialised bytes, into which only initialised ones are written.
    let dest = unsafe { &mut *(ptr::from_mut(dest) as *mut [MaybeUninit<u8>]) };
    copy_to_uninit_at(level, src, dest);
}

#[inline]
fn copy_to_uninit_at(level: SimdLevel, src: &[u8], dest: &mut [MaybeUninit<u8>]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a copy differ in length");
    #[cfg(target_arch = "x86_64")]
    if (MIN_VECTOR_COPY..=MAX_VECTOR_COPY).contains(&src.len()) {
        match level {
            // SAFETY: the level proves that the machine has AVX-512 F.
            SimdLevel::Avx512(_) => return unsafe { copy_vectors_avx512(src, dest) },
            // SAFETY: the level proves that the machine has AVX2.
            SimdLevel::Avx2(_) => return unsafe { copy_vectors_avx2(src, dest) },
            _ => {}
        }
    }
    let _ = level;
    // SAFETY: both have that length, and `dest` is borrowed mutably.
    unsafe { dest.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(src.as_ptr(), src.len()) };
}

/// [`copy_vectors`] with vectors of 64 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn copy_vectors_avx512(src: &[u8], dest: &mut [MaybeUninit<u8>]) {
    copy_vectors::<std::arch::x86_64::__m512i>(src, dest);
}

/// [`copy_vectors`] with vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn copy_vectors_avx2(src: &[u8], dest: &mut [MaybeUninit<u8>]) {
    copy_vectors::<std::arch::x86_64::__m256i>(src, dest);
}

/// Copies at least [`MIN_VECTOR_COPY`] bytes to a destination of the same length by vectors: an unaligned first round, a
/// last round that ends at the end, and between them rounds of four vectors whose stores are aligned.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy_vectors<Vector: Copy>(src: &[u8], dest: &mut [MaybeUninit<u8>]) {
    let vector_len = size_of::<Vector>();
    let round_len = 4 * vector_len;
    const { assert!(MIN_VECTOR_COPY >= 4 * size_of::<Vector>()) };
    assert!(
        src.len() == dest.len() && src.len() >= round_len,
        "source and destination differ in length, or are too short"
    );
    let (from, to) = (src.as_ptr(), dest.as_mut_ptr());
    let last = src.len() - round_len;
    let round = |at: usize| {
        debug_assert!(at <= last);
        // SAFETY: `at` <= `last`, so a round of bytes from there is inside both. Each value is a valid vector.
        unsafe {
            let (from, to) = (from.add(at).cast::<Vector>(), to.add(at).cast::<Vector>());
            let vectors: [Vector; 4] = std::array::from_fn(|i| from.add(i).read_unaligned());
            for (i, &vector) in vectors.iter().enumerate() {
                to.add(i).write_unaligned(vector);
            }
        }
    };
    round(0);
    // The last aligned position up to which the first round has copied.
    let mut at = round_len - to.addr() % vector_len;
    if src.len() >= MIN_PREFETCHED_LEN {
        while at < last {
            prefetch_output(to.wrapping_add(at).cast(), round_len);
            round(at);
            at += round_len;
        }
    }
    while at < last {
        round(at);
        at += round_len;
    }
    round(last);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_writes_exactly_the_destination() {
        // Repeated, since Miri is slow at making bytes one by one.
        let period: Vec<u8> = (0..8192).map(|i| (i * 7 + i / 251) as u8).collect();
        let bytes = period.repeat(MAX_VECTOR_COPY / period.len() + 2);
        let lens = (0..300).chain(MIN_VECTOR_COPY - 3..MIN_VECTOR_COPY + 200).chain([
            MAX_VECTOR_COPY - 5,
            MAX_VECTOR_COPY,
            MAX_VECTOR_COPY + 1,
        ]);
        for (i, len) in lens.enumerate().step_by(if cfg!(miri) { 41 } else { 1 }) {
            let (from, to) = (i * 5 % 67, i * 3 % 65);
            let src = &bytes[from..from + len];
            for level in cpu::available_levels() {
                let mut room = vec![0xa5; to + len + 70];
                copy_at(level, src, &mut room[to..to + len]);
                assert!(&room[to..to + len] == src, "{len} bytes at {}", level.name());
                let around = room[..to].iter().chain(&room[to + len..]);
                assert!(around.copied().all(|byte| byte == 0xa5), "{len} bytes at {}", level.name());
            }
        }
    }

    #[test]
    #[should_panic]
    fn different_lengths_panic() {
        copy(&[0; 4096], &mut [0; 4095]);
    }
}
