//! Prefix XOR: every word becomes the XOR of itself and all words before. It undoes the delta of a first block.
//!
//! The prefix of a vector is computed in steps that double the distance: after XORing every word with the one before,
//! then every pair with the last word of the pair before, and so on, all words hold the XOR from the start of the
//! vector. The dependency chain from vector to vector is a single XOR: the last word of each vector goes into the
//! next carry without waiting for the vector's own XOR with the carry.

use super::super::cpu::SimdLevel;

/// XORs every word of `W` bytes with all the words before it, with the code of `level`. The length is a multiple of
/// `W`, which is 1, 2, 4 or 8.
pub(super) fn prefix_xor<const W: usize>(level: SimdLevel, buf: &mut [u8]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: both levels prove that the machine has AVX2.
        SimdLevel::Avx2(_) | SimdLevel::Avx512(_) => unsafe { x86::avx2::<W>(buf) },
        _ => portable::<W>(buf, 0),
    }
}

/// The number of 64-bit words that are computed together.
const BATCH: usize = 8;

/// Computes the prefix XOR portably from `start` on, a multiple of `W`. The bytes before `start` are already done.
fn portable<const W: usize>(buf: &mut [u8], start: usize) {
    let (done, buf) = buf.split_at_mut(start);
    // The last word so far, repeated through the register.
    let mut carry = match done.last_chunk::<8>() {
        Some(last) => repeat_last::<W>(u64::from_le_bytes(*last)),
        None => 0,
    };
    let (words, rest) = buf.as_chunks_mut::<8>();
    for batch in words.chunks_mut(BATCH) {
        let mut sums = [0u64; BATCH];
        for (sum, word) in sums.iter_mut().zip(batch.iter()) {
            *sum = prefix_of_word::<W>(u64::from_le_bytes(*word));
        }
        for (sum, word) in sums.iter().zip(batch) {
            *word = (sum ^ carry).to_le_bytes();
            carry ^= repeat_last::<W>(*sum);
        }
    }
    let mut carry = carry.to_le_bytes();
    for word in rest.chunks_exact_mut(W) {
        for (byte, carry) in word.iter_mut().zip(&mut carry) {
            *byte ^= *carry;
            *carry = *byte;
        }
    }
}

/// Returns the prefix XOR of the words of `W` bytes in `x`.
#[inline(always)]
fn prefix_of_word<const W: usize>(mut x: u64) -> u64 {
    for step in [8, 16, 32] {
        if step >= 8 * W {
            x ^= x << step;
        }
    }
    x
}

/// Returns the last `W` bytes of `x`, repeated.
#[inline(always)]
fn repeat_last<const W: usize>(x: u64) -> u64 {
    match W {
        1 => (x >> 56) * 0x0101_0101_0101_0101,
        2 => (x >> 48) * 0x0001_0001_0001_0001,
        4 => (x >> 32) * 0x0000_0001_0000_0001,
        _ => x,
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::super::columns::avx2::both_lanes;
    use std::arch::x86_64::*;

    /// Returns the index in a lane of the byte with which each of its bytes is XORed in the last step: the upper half of
    /// the lane gets the last word of the lower half, repeated. An index with the upper bit set gives zero.
    const fn last_step_permutation<const W: usize>() -> [u8; 16] {
        let mut places = [0x80; 16];
        let mut at = 8;
        while at < 16 {
            places[at] = (8 - W + at % W) as u8;
            at += 1;
        }
        places
    }

    /// Returns the byte indices of the last word of a lane, repeated.
    const fn last_word_permutation<const W: usize>() -> [u8; 16] {
        let mut places = [0; 16];
        let mut at = 0;
        while at < 16 {
            places[at] = (16 - W + at % W) as u8;
            at += 1;
        }
        places
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2<const W: usize>(buf: &mut [u8]) {
        let (vectors, rest) = buf.as_chunks_mut::<32>();
        let done = vectors.len() * 32;
        let in_lane = both_lanes(&const { last_step_permutation::<W>() });
        let last_of_lane = both_lanes(&const { last_word_permutation::<W>() });
        let mut carry = _mm256_setzero_si256();
        for bytes in vectors {
            // SAFETY: the chunk is as long as a vector.
            let mut x = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            if W <= 1 {
                x = _mm256_xor_si256(x, _mm256_slli_epi64::<8>(x));
            }
            if W <= 2 {
                x = _mm256_xor_si256(x, _mm256_slli_epi64::<16>(x));
            }
            if W <= 4 {
                x = _mm256_xor_si256(x, _mm256_slli_epi64::<32>(x));
            }
            x = _mm256_xor_si256(x, _mm256_shuffle_epi8(x, in_lane));
            // The last word of each lane, repeated in that lane; then of the lower lane in the upper one.
            let lasts = _mm256_shuffle_epi8(x, last_of_lane);
            let lower = _mm256_permute2x128_si256::<0x08>(lasts, lasts);
            let total = _mm256_xor_si256(lasts, _mm256_permute4x64_epi64::<0b01_00_11_10>(lasts));
            let sums = _mm256_xor_si256(_mm256_xor_si256(x, lower), carry);
            carry = _mm256_xor_si256(carry, total);
            // SAFETY: the chunk is as long as a vector.
            unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), sums) };
        }
        if !rest.is_empty() {
            super::portable::<W>(buf, done);
        }
    }
}
