//! Match copies with AVX2: periods of up to 16 bytes are repeated in one register.

use super::{MatchCopy, OVERSHOOT, align_loop, copy_bytes, copy_with_doubling};
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
        // SAFETY: the contract is the callee's, and the users of this type have checked for AVX2.
        unsafe { repeat_short_avx2(to, distance) }
    }

    #[inline(always)]
    unsafe fn copy_short_any_distance(to: *mut u8, distance: usize) {
        // SAFETY: the contract is the callee's, and the users of this type have checked for AVX2.
        unsafe { copy_short_avx2(to, distance) }
    }

    #[inline(always)]
    unsafe fn copy_match_prefix(to: *mut u8, distance: usize) -> usize {
        // SAFETY: the contract is the callee's, and the users of this type have checked for AVX2.
        unsafe { copy_first_avx2(to, distance) }
    }
}

/// # Safety
/// As [`copy_large`](super::copy_large)'s.
#[inline(never)]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy_large_avx2(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: the contract is the callee's.
    unsafe {
        if super::HAS_LINE_FILL.get() && distance <= 16 && distance.is_power_of_two() {
            fill_cache_lines_avx2(to, distance, length);
        } else {
            copy_with_doubling::<Avx2Copy>(to, distance, length);
        }
    }
}

/// Copies a match whose period divides a register: equal numbers, the most frequent long matches. All stores except the
/// first and the last ones are whole cache lines.
///
/// # Safety
/// As [`copy_large`](super::copy_large)'s, and `distance` is 1, 2, 4, 8 or 16.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn fill_cache_lines_avx2(to: *mut u8, distance: usize, length: usize) {
    let body = length - OVERSHOOT;
    // SAFETY: by the contract. `length` > LARGE_MATCH_THRESHOLD, so 16 bytes can be read at `from`, and two chunks be
    // written at `to`. `line` is at most OVERSHOOT behind `to`; the lines begin before `body`, so they end in the
    // match.
    unsafe {
        let from = to.sub(distance);
        let period = if distance == 1 {
            // A load of one byte can be forwarded from any store.
            _mm256_set1_epi8(*from as i8)
        } else {
            _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()))
        };
        let (order, mask) =
            (_mm256_loadu_si256(PERIOD_SHUFFLES[16].as_ptr().cast()), _mm256_set1_epi8(distance as i8 - 1));
        // The content of a register that is stored `at` bytes behind `to`. The period divides 256, so the low byte of
        // `at` is enough.
        let chunk = |at: usize| {
            let order = _mm256_and_si256(_mm256_add_epi8(order, _mm256_set1_epi8(at as i8)), mask);
            _mm256_shuffle_epi8(period, order)
        };
        let store = |at: usize, chunk| {
            _mm256_storeu_si256(to.add(at).cast(), chunk);
            _mm256_storeu_si256(to.add(at + 32).cast(), chunk);
        };
        store(0, chunk(0));
        let mut line = OVERSHOOT - to.addr() % OVERSHOOT;
        let aligned = chunk(line);
        align_loop();
        while line < body {
            store(line, aligned);
            line += OVERSHOOT;
        }
        store(body, chunk(body));
    }
}

/// By period: the offset in the period of each of the 32 bytes of a register. The last row leaves each half of a
/// register unchanged.
static PERIOD_SHUFFLES: [[u8; 32]; 17] = {
    let mut periods = [[0; 32]; 17];
    let mut distance = 1;
    while distance <= 16 {
        let mut i = 0;
        while i < 32 {
            periods[distance][i] = (i % distance) as u8;
            i += 1;
        }
        distance += 1;
    }
    periods
};

/// By period: the number of bytes of whole periods in a register. A table, since a division takes longer than the copy.
static WHOLE_PERIODS_LEN: [u8; 16] = {
    let mut whole = [32; 16];
    let mut distance = 1;
    while distance < 16 {
        whole[distance] = (32 - 32 % distance) as u8;
        distance += 1;
    }
    whole
};

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

/// By distance (32 stands for all larger ones): the number of bytes that [`copy_first_avx2`] copies.
static PREFIX_LEN: [u8; 33] = {
    let mut first = [32; 33];
    let mut distance = 16;
    while distance < 32 {
        first[distance] = distance as u8;
        distance += 1;
    }
    first
};

/// Copies 32 bytes, or as many as the distance if that is 16 to 31, in one store. Returns their number.
///
/// # Safety
/// As [`MatchCopy::copy_match_prefix`]'s.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy_first_avx2(to: *mut u8, distance: usize) -> usize {
    let row = distance.min(16);
    // SAFETY: by the contract, `distance` bytes before `to` and OVERSHOOT bytes from it belong to the buffer: 16 bytes
    // can be read at `from`, 32 where it is at least 16 bytes back, and 32 be written at `to`.
    unsafe {
        let from = to.sub(distance);
        let low = _mm_loadu_si128(from.cast());
        let high = _mm_loadu_si128(from.add(row & 16).cast());
        let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
        let order = _mm256_loadu_si256(PERIOD_SHUFFLES[row].as_ptr().cast());
        _mm256_storeu_si256(to.cast(), _mm256_shuffle_epi8(both, order));
    }
    usize::from(PREFIX_LEN[distance.min(32)])
}

/// # Safety
/// As [`MatchCopy::copy_short_any_distance`]'s.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy_short_avx2(to: *mut u8, distance: usize) {
    // SAFETY: by the contract; the single bytes are before `to` + MAX_SHORT_MATCH.
    unsafe {
        copy_first_avx2(to, distance);
        if distance & !1 == 16 {
            // The sources of the last two bytes are, or may be, among the bytes that have just been written.
            copy_bytes::<1>(to.add(16).sub(distance), to.add(16));
            copy_bytes::<1>(to.add(17).sub(distance), to.add(17));
        }
    }
}
