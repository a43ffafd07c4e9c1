//! Match copies with AVX2: periods of up to 16 bytes are repeated in one register.

use super::generic::{MatchCopy, align_loop, copy_with_doubling};
use super::periods::{PERIOD_SHUFFLES, WHOLE_PERIODS_LEN};
use std::arch::x86_64::*;

/// The implementation with AVX2: repeats a period in one register. Only for code that runs where AVX2 has been
/// detected.
pub(in crate::codec) struct Avx2Copy;

impl MatchCopy for Avx2Copy {
    #[inline(always)]
    unsafe fn repeat_period(to: *mut u8, distance: usize, length: usize) {
        // SAFETY: the users of this type have checked for AVX2. By the contract, 16 bytes from `distance` before `to`
        // and OVERSHOOT bytes from each `at` < `length` belong to the buffer.
        unsafe {
            let from = to.sub(distance);
            let (chunk, step) = if distance == 1 {
                // By far the most common period. A load of one byte can be forwarded from any store.
                (_mm256_set1_epi8(*from as i8), 32)
            } else {
                let first = _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()));
                let order = _mm256_loadu_si256(PERIOD_SHUFFLES[distance & 15].as_ptr().cast());
                (_mm256_shuffle_epi8(first, order), usize::from(WHOLE_PERIODS_LEN[distance & 15]))
            };
            let mut at = 0;
            align_loop();
            while at < length {
                _mm256_storeu_si256(to.add(at).cast(), chunk);
                at += step;
            }
        }
    }

    #[inline(always)]
    unsafe fn repeat_period_32(to: *mut u8, distance: usize) {
        // SAFETY: code that uses this type runs after AVX2 was detected; by the contract of the trait `distance`
        // bytes before `to` and OVERSHOOT bytes from it are in the buffer.
        unsafe { repeat_short_avx2(to, distance) }
    }
}

/// # Safety
/// As [`copy_large`](super::copy_large)'s.
#[inline(never)]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy_large_avx2(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: `distance`, `length` and the buffer are as the contract of this function says, which is that of the
    // callee.
    unsafe {
        copy_with_doubling::<Avx2Copy>(to, distance, length);
    }
}

/// Repeats a period with one store, and with only one branch that can be mispredicted.
///
/// # Safety
/// As [`MatchCopy::repeat_period_32`]'s.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn repeat_short_avx2(to: *mut u8, distance: usize) {
    // SAFETY: by the contract, 8 bytes from `distance` before `to` and 32 from it belong to the buffer.
    unsafe {
        if distance == 1 {
            // A load of one byte can be forwarded from any store; on some processors a load of eight bytes is late
            // unless they were stored together.
            _mm256_storeu_si256(to.cast(), _mm256_set1_epi8(*to.sub(1) as i8));
            return;
        }
        let first = _mm256_broadcastq_epi64(_mm_loadl_epi64(to.sub(distance).cast()));
        let order = _mm256_loadu_si256(PERIOD_SHUFFLES[distance & 15].as_ptr().cast());
        _mm256_storeu_si256(to.cast(), _mm256_shuffle_epi8(first, order));
    }
}
