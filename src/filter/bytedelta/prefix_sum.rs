//! Prefix sums of bytes modulo 256, which undo a bytedelta.
//!
//! As for the prefix XOR of delta, the prefix of a vector is computed in steps that double the distance, and the
//! dependency chain from vector to vector is a single addition: the sum of each vector goes into the next carry,
//! independently of the final sums.

use super::super::cpu::SimdLevel;

/// Adds to every byte all those before it, with the code of `level`.
pub(super) fn prefix_sum(level: SimdLevel, buf: &mut [u8]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions.
        SimdLevel::Avx512(_) => unsafe { x86::avx512(buf) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions.
        SimdLevel::Avx2(_) => unsafe { x86::avx2(buf) },
        _ => portable(buf, 0),
    }
}

/// The upper bit of each byte of a word.
const UPPER_BITS: u64 = 0x8080_8080_8080_8080;
/// Multiplied by a byte, gives a word of which every byte is that byte.
const REPEAT_BYTE: u64 = 0x0101_0101_0101_0101;

/// Adds byte by byte.
#[inline(always)]
fn add_bytes(a: u64, b: u64) -> u64 {
    ((a & !UPPER_BITS) + (b & !UPPER_BITS)) ^ ((a ^ b) & UPPER_BITS)
}

/// Computes the prefix sums portably from `start` on. The bytes before `start` are already done.
fn portable(buf: &mut [u8], start: usize) {
    let (done, buf) = buf.split_at_mut(start);
    let mut carry = done.last().copied().unwrap_or(0);
    let (words, rest) = buf.as_chunks_mut::<8>();
    for word in words {
        let mut sums = u64::from_le_bytes(*word);
        for shift in [8, 16, 32] {
            sums = add_bytes(sums, sums << shift);
        }
        let last = (sums >> 56) as u8;
        *word = add_bytes(sums, u64::from(carry) * REPEAT_BYTE).to_le_bytes();
        carry = carry.wrapping_add(last);
    }
    for byte in rest {
        carry = carry.wrapping_add(*byte);
        *byte = carry;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Returns, for a step, the index in the vector of the byte that is added to each of the 64 bytes, and the mask
    /// of the bytes that are changed. The second half of every piece of `2 * half` bytes gets the last byte of the
    /// first half.
    const fn step_permutation(half: usize) -> ([u8; 64], u64) {
        let (mut places, mut mask) = ([0x80; 64], 0);
        let mut at = 0;
        while at < 64 {
            if at / half % 2 == 1 {
                places[at] = (at / half * half - 1) as u8;
                mask |= 1 << at;
            }
            at += 1;
        }
        (places, mask)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn avx512(buf: &mut [u8]) {
        let (vectors, rest) = buf.as_chunks_mut::<64>();
        let done = vectors.len() * 64;
        let steps = &const { [step_permutation(8), step_permutation(16), step_permutation(32)] };
        let last = _mm512_set1_epi8(63);
        let mut carry = _mm512_setzero_si512();
        for bytes in vectors {
            let mut x = load512(bytes);
            x = _mm512_add_epi8(x, _mm512_slli_epi64::<8>(x));
            x = _mm512_add_epi8(x, _mm512_slli_epi64::<16>(x));
            x = _mm512_add_epi8(x, _mm512_slli_epi64::<32>(x));
            for (places, mask) in steps {
                x = _mm512_add_epi8(x, _mm512_maskz_permutexvar_epi8(*mask, load512(places), x));
            }
            let sums = _mm512_add_epi8(x, carry);
            carry = _mm512_add_epi8(carry, _mm512_permutexvar_epi8(last, x));
            // SAFETY: the chunk is as long as a vector.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), sums) };
        }
        if !rest.is_empty() {
            super::portable(buf, done);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(buf: &mut [u8]) {
        let (vectors, rest) = buf.as_chunks_mut::<32>();
        let done = vectors.len() * 32;
        let mut carry = _mm256_setzero_si256();
        for bytes in vectors {
            // SAFETY: the chunk is as long as a vector, and this function has AVX2.
            unsafe {
                let x = _mm256_loadu_si256(bytes.as_ptr().cast());
                let sums;
                (sums, carry) = super::super::columns::avx2::sums(x, carry);
                _mm256_storeu_si256(bytes.as_mut_ptr().cast(), sums);
            }
        }
        if !rest.is_empty() {
            super::portable(buf, done);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load512(bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the array is as long as a vector.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
}
