//! Bytedelta on columns in registers, for the fused shuffles: a column is a piece of a stream, in which tiles are
//! consecutive.

#[cfg(target_arch = "x86_64")]
pub(in crate::filter) mod avx512 {
    use super::super::super::columns::avx512::{TILE, load_table};
    use std::arch::x86_64::*;

    /// The largest number of columns that are coded at a time.
    const COLUMNS: usize = 16;

    /// The permutation for column `j`: every byte moves up by one index, and byte `j` of another vector becomes the
    /// first byte.
    static SHIFT_IN_BEFORE: [[u8; TILE]; COLUMNS] = {
        let mut tables = [[0; TILE]; COLUMNS];
        let mut j = 0;
        while j < COLUMNS {
            tables[j][0] = (TILE + j) as u8;
            let mut at = 1;
            while at < TILE {
                tables[j][at] = (at - 1) as u8;
                at += 1;
            }
            j += 1;
        }
        tables
    };

    /// The permutation and its mask: for each word of 8 bytes, the last byte of each word before it, and, in the last
    /// byte of the word, the last byte of another vector.
    static LAST_BYTES: ([u8; TILE], u64) = {
        let (mut table, mut mask) = ([0; TILE], 0);
        let mut at = 0;
        while at < TILE {
            let (word, byte) = (at / 8, at % 8);
            table[at] = if byte == 7 { (TILE + TILE - 1) as u8 } else { (8 * byte + 7) as u8 };
            if byte == 7 || byte < word {
                mask |= 1 << at;
            }
            at += 1;
        }
        (table, mask)
    };

    /// The shuffle that copies the first byte of each word to all bytes of the word.
    static BROADCAST_FIRST_BYTE: [u8; TILE] = {
        let mut table = [0; TILE];
        let mut at = 0;
        while at < TILE {
            table[at] = (at % 16 / 8 * 8) as u8;
            at += 1;
        }
        table
    };

    /// Replaces every byte of the columns, at most 16 of them, by its difference from the byte before it, which is
    /// byte `j` of `before` for the first byte of column `j`.
    ///
    /// # Safety
    /// The machine has the AVX-512 level.
    #[inline(always)]
    pub(in crate::filter) unsafe fn differences(columns: &mut [__m512i], before: __m128i) {
        // SAFETY: the level by the caller.
        unsafe {
            let before = _mm512_zextsi128_si512(before);
            for (column, behind) in columns.iter_mut().zip(&SHIFT_IN_BEFORE) {
                let minus = _mm512_permutex2var_epi8(*column, load_table(behind), before);
                *column = _mm512_sub_epi8(*column, minus);
            }
        }
    }

    /// Returns every byte of the column plus all those before it and the last byte of `before`.
    ///
    /// # Safety
    /// The machine has the AVX-512 level.
    #[inline(always)]
    pub(in crate::filter) unsafe fn sums(column: __m512i, before: __m512i) -> __m512i {
        // SAFETY: the level by the caller.
        unsafe {
            let mut x = column;
            x = _mm512_add_epi8(x, _mm512_slli_epi64::<8>(x));
            x = _mm512_add_epi8(x, _mm512_slli_epi64::<16>(x));
            x = _mm512_add_epi8(x, _mm512_slli_epi64::<32>(x));
            // Up to 7 words and the vector before precede each word: their totals are at most 8 bytes, which one
            // instruction adds.
            let lasts = _mm512_maskz_permutex2var_epi8(LAST_BYTES.1, x, load_table(&LAST_BYTES.0), before);
            let carries = _mm512_sad_epu8(lasts, _mm512_setzero_si512());
            _mm512_add_epi8(x, _mm512_shuffle_epi8(carries, load_table(&BROADCAST_FIRST_BYTE)))
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(in crate::filter) mod avx2 {
    use super::super::super::columns::avx2::both_lanes;
    use std::arch::x86_64::*;

    /// Returns every byte of the column minus the one before it, which is `before` for the first byte.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    pub(in crate::filter) unsafe fn differences(column: __m256i, before: u8) -> __m256i {
        // SAFETY: AVX2 by the caller.
        unsafe {
            // The 16 bytes before each lane.
            let lanes = _mm256_permute2x128_si256::<0x02>(column, _mm256_set1_epi8(before as i8));
            _mm256_sub_epi8(column, _mm256_alignr_epi8::<15>(column, lanes))
        }
    }

    /// The shuffle that copies the last byte of the lower half of a lane to all bytes of the upper half.
    static BROADCAST_LAST_OF_LOWER: [u8; 16] =
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 7, 7, 7, 7, 7, 7, 7, 7];

    /// Returns every byte of the column plus all those before it and `carry`, of which all bytes are equal; and the
    /// next `carry`.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    pub(in crate::filter) unsafe fn sums(column: __m256i, carry: __m256i) -> (__m256i, __m256i) {
        // SAFETY: AVX2 by the caller.
        unsafe {
            let mut x = column;
            x = _mm256_add_epi8(x, _mm256_slli_epi64::<8>(x));
            x = _mm256_add_epi8(x, _mm256_slli_epi64::<16>(x));
            x = _mm256_add_epi8(x, _mm256_slli_epi64::<32>(x));
            x = _mm256_add_epi8(x, _mm256_shuffle_epi8(x, both_lanes(&BROADCAST_LAST_OF_LOWER)));
            // The last byte of each lane, in all bytes of that lane; then that of the lower lane in the upper one.
            let lasts = _mm256_shuffle_epi8(x, _mm256_set1_epi8(15));
            let lower = _mm256_permute2x128_si256::<0x08>(lasts, lasts);
            let total = _mm256_add_epi8(lasts, _mm256_permute4x64_epi64::<0b01_00_11_10>(lasts));
            (_mm256_add_epi8(_mm256_add_epi8(x, lower), carry), _mm256_add_epi8(carry, total))
        }
    }
}
