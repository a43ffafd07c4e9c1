//! CRC-32C (Castagnoli), the checksum of frames.
//!
//! Owns the kernel for AVX-512; the crate `crc32c` does the work on other machines. The places of checksums in a frame belong
//! to [`frame`](crate::frame).

/// Returns the CRC-32C of some bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    append(0, bytes)
}

/// Returns the CRC-32C of bytes that have the CRC-32C `crc`, with `bytes` behind them.
pub(crate) fn append(crc: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("sse4.2")
    {
        // SAFETY: the machine has the instructions.
        return !unsafe { avx512::update(!crc, bytes) };
    }
    ::crc32c::crc32c_append(crc, bytes)
}

/// Carry-less multiplication of 64 bytes at a time, where the crate uses the instruction for CRC-32C.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// Bytes of a vector.
    const VECTOR: usize = 64;
    /// The polynomial, its bits in reverse order.
    const POLYNOMIAL: u32 = 0x82f6_3b78;

    /// Returns x^n modulo the polynomial, its bits in reverse order, with a zero bit below: the factor for a carry-less
    /// product of operands whose bits are in reverse order.
    const fn factor(n: usize) -> i64 {
        let mut power = 1_u32 << 31;
        let mut i = 0;
        while i < n {
            power = (power >> 1) ^ (POLYNOMIAL & (power & 1).wrapping_neg());
            i += 1;
        }
        (power as i64) << 1
    }

    /// Returns the factors that move the two halves of 16 bytes by `bytes`.
    const fn factors(bytes: usize) -> [i64; 2] {
        [factor(8 * bytes + 32), factor(8 * bytes - 32)]
    }

    /// The factors that move the first three lanes of a vector to the place of the last.
    const TO_LAST_LANE: [[i64; 2]; 3] = [factors(48), factors(32), factors(16)];

    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8; VECTOR]) -> __m512i {
        // SAFETY: `bytes` has the 64 bytes that are read; the instruction needs no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    /// Returns the factors in each of the four lanes of a vector.
    #[target_feature(enable = "avx512f")]
    fn same_factors([low, high]: [i64; 2]) -> __m512i {
        _mm512_broadcast_i32x4(_mm_set_epi64x(high, low))
    }

    /// Returns the remainder of `vector` moved by the bytes that `factors` stand for.
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn moved(vector: __m512i, factors: __m512i) -> __m512i {
        _mm512_xor_si512(
            _mm512_clmulepi64_epi128::<0x00>(vector, factors),
            _mm512_clmulepi64_epi128::<0x11>(vector, factors),
        )
    }

    /// Returns the state of the checksum behind `bytes`. The state is the complement of the checksum.
    #[target_feature(enable = "avx512f,vpclmulqdq,sse4.2")]
    pub(super) fn update(mut state: u32, bytes: &[u8]) -> u32 {
        let (vectors, mut rest) = bytes.as_chunks::<VECTOR>();
        if vectors.len() < 2 {
            rest = bytes;
        } else {
            state = fold(state, vectors);
        }
        let (words, rest) = rest.as_chunks::<8>();
        for word in words {
            state = _mm_crc32_u64(state.into(), u64::from_le_bytes(*word)) as u32;
        }
        for byte in rest {
            state = _mm_crc32_u8(state, *byte);
        }
        state
    }

    /// Returns the state behind vectors, of which there is at least one.
    #[target_feature(enable = "avx512f,vpclmulqdq,sse4.2")]
    fn fold(state: u32, vectors: &[[u8; VECTOR]]) -> u32 {
        let by_one = same_factors(const { factors(VECTOR) });
        let state = _mm512_zextsi128_si512(_mm_cvtsi32_si128(state as i32));
        let (groups, mut rest) = vectors.as_chunks::<4>();
        let mut sum;
        if let Some(([first, second, third, fourth], groups)) = groups.split_first() {
            // Products of four vectors at a time do not wait for each other.
            let by_four = same_factors(const { factors(4 * VECTOR) });
            let mut sums = [_mm512_xor_si512(load(first), state), load(second), load(third), load(fourth)];
            for group in groups {
                for (sum, next) in sums.iter_mut().zip(group) {
                    *sum = _mm512_xor_si512(moved(*sum, by_four), load(next));
                }
            }
            sum = sums[0];
            for next in &sums[1..] {
                sum = _mm512_xor_si512(moved(sum, by_one), *next);
            }
        } else {
            sum = _mm512_xor_si512(load(&rest[0]), state);
            rest = &rest[1..];
        }
        for next in rest {
            sum = _mm512_xor_si512(moved(sum, by_one), load(next));
        }
        let [[a, b], [c, d], [e, f]] = TO_LAST_LANE;
        let lanes = moved(sum, _mm512_set_epi64(0, 0, f, e, d, c, b, a));
        let low = _mm256_xor_si256(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes));
        let lane = _mm_xor_si128(_mm256_castsi256_si128(low), _mm256_extracti128_si256::<1>(low));
        let lane = _mm_xor_si128(lane, _mm512_extracti32x4_epi32::<3>(sum));
        let half = _mm_crc32_u64(0, _mm_cvtsi128_si64(lane) as u64);
        _mm_crc32_u64(half, _mm_extract_epi64::<1>(lane) as u64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn check_value() {
        assert_eq!(checksum(b"123456789"), 0xe306_9283);
    }

    proptest! {
        #[test]
        fn checksums_are_those_of_the_crate(bytes in prop::collection::vec(any::<u8>(), 0..2000), cut in 0..2000_usize) {
            let expected = ::crc32c::crc32c(&bytes);
            prop_assert_eq!(checksum(&bytes), expected);
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(append(checksum(first), second), expected);
        }
    }
}
