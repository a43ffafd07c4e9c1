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
        // SAFETY: both levels prove that the machine has AVX2.
        SimdLevel::Avx2(_) | SimdLevel::Avx512(_) => unsafe { x86::avx2(buf) },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: the level proves that the machine has NEON.
        SimdLevel::Neon(_) => unsafe { arm::neon(buf) },
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
    use super::super::super::columns::avx2::both_lanes;
    use std::arch::x86_64::*;

    /// The shuffle that copies the last byte of the lower half of a lane to all bytes of the upper half.
    static BROADCAST_LAST_OF_LOWER: [u8; 16] =
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 7, 7, 7, 7, 7, 7, 7, 7];

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(buf: &mut [u8]) {
        let (vectors, rest) = buf.as_chunks_mut::<32>();
        let done = vectors.len() * 32;
        let last_of_lower = both_lanes(&BROADCAST_LAST_OF_LOWER);
        // All bytes are the sum of the bytes before the vector.
        let mut carry = _mm256_setzero_si256();
        for bytes in vectors {
            // SAFETY: the chunk is as long as a vector.
            let mut x = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            x = _mm256_add_epi8(x, _mm256_slli_epi64::<8>(x));
            x = _mm256_add_epi8(x, _mm256_slli_epi64::<16>(x));
            x = _mm256_add_epi8(x, _mm256_slli_epi64::<32>(x));
            x = _mm256_add_epi8(x, _mm256_shuffle_epi8(x, last_of_lower));
            // The last byte of each lane, in all bytes of that lane; then that of the lower lane in the upper one.
            let lasts = _mm256_shuffle_epi8(x, _mm256_set1_epi8(15));
            let lower = _mm256_permute2x128_si256::<0x08>(lasts, lasts);
            let total = _mm256_add_epi8(lasts, _mm256_permute4x64_epi64::<0b01_00_11_10>(lasts));
            let sums = _mm256_add_epi8(_mm256_add_epi8(x, lower), carry);
            carry = _mm256_add_epi8(carry, total);
            // SAFETY: the chunk is as long as a vector.
            unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), sums) };
        }
        if !rest.is_empty() {
            super::portable(buf, done);
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod arm {
    use std::arch::aarch64::*;

    /// Four consecutive bytes are in four vectors, at the same place: three additions give the sums in each group of four,
    /// and one vector has the sums of all groups.
    #[target_feature(enable = "neon")]
    pub(super) fn neon(buf: &mut [u8]) {
        let (tiles, rest) = buf.as_chunks_mut::<64>();
        let done = tiles.len() * 64;
        let zero = vdupq_n_u8(0);
        // All bytes are the sum of the bytes before the tile.
        let mut carry = zero;
        for bytes in tiles {
            // SAFETY: the tile is as long as four vectors.
            let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(bytes.as_ptr()) };
            let b = vaddq_u8(a, b);
            let c = vaddq_u8(b, c);
            let d = vaddq_u8(c, d);
            let mut groups = vaddq_u8(d, vextq_u8::<15>(zero, d));
            groups = vaddq_u8(groups, vextq_u8::<14>(zero, groups));
            groups = vaddq_u8(groups, vextq_u8::<12>(zero, groups));
            groups = vaddq_u8(groups, vextq_u8::<8>(zero, groups));
            let before = vaddq_u8(carry, vextq_u8::<15>(zero, groups));
            carry = vaddq_u8(carry, vdupq_laneq_u8::<15>(groups));
            let sums = uint8x16x4_t(
                vaddq_u8(before, a),
                vaddq_u8(before, b),
                vaddq_u8(before, c),
                vaddq_u8(before, d),
            );
            // SAFETY: the tile is as long as four vectors.
            unsafe { vst4q_u8(bytes.as_mut_ptr(), sums) };
        }
        if !rest.is_empty() {
            super::portable(buf, done);
        }
    }
}
