//! XXH32 with seed 1, of pieces whose length is a multiple of 4 (`codecs.md` 8.4): of one piece, or of all the pieces
//! of a cell at once.

const P1: u32 = 2_654_435_761;
const P2: u32 = 2_246_822_519;
const P3: u32 = 3_266_489_917;
const P4: u32 = 668_265_263;
const P5: u32 = 374_761_393;

const SEED: u32 = 1;

/// The start value of each of the four lanes of a stripe, and its final rotation in bits.
const LANE_PARAMS: [(u32, u32); 4] = [
    (SEED.wrapping_add(P1).wrapping_add(P2), 1),
    (SEED.wrapping_add(P2), 7),
    (SEED, 12),
    (SEED.wrapping_sub(P1), 18),
];

/// Mixes a word of a stripe into its lane.
#[inline(always)]
fn round(lane: u32, word: u32) -> u32 {
    lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(13).wrapping_mul(P1)
}

/// Mixes a word behind the stripes into the hash.
#[inline(always)]
fn mix(hash: u32, word: u32) -> u32 {
    hash.wrapping_add(word.wrapping_mul(P3)).rotate_left(17).wrapping_mul(P4)
}

/// Returns the hash after the final mixing.
#[inline(always)]
fn avalanche(mut h: u32) -> u32 {
    h ^= h >> 15;
    h = h.wrapping_mul(P2);
    h ^= h >> 13;
    h = h.wrapping_mul(P3);
    h ^ h >> 16
}

/// Returns the 4 bytes at `at` as a word.
#[inline(always)]
fn read_word<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[inline(always)]
pub(super) fn xxh32<const N: usize>(bytes: &[u8; N]) -> u32 {
    const { assert!(N.is_multiple_of(4)) };
    let stripes = N / 16;
    let mut h = SEED.wrapping_add(P5);
    if stripes > 0 {
        let mut lanes = LANE_PARAMS.map(|(start, _)| start);
        for at in 0..stripes {
            for (n, lane) in lanes.iter_mut().enumerate() {
                *lane = round(*lane, read_word(bytes, 16 * at + 4 * n));
            }
        }
        h = 0;
        for (lane, (_, shift)) in lanes.into_iter().zip(LANE_PARAMS) {
            h = h.wrapping_add(lane.rotate_left(shift));
        }
    }
    h = h.wrapping_add(N as u32);
    for at in (16 * stripes..N).step_by(4) {
        h = mix(h, read_word(bytes, at));
    }
    avalanche(h)
}

/// Returns, for each row of a cell of 8, the hashes of the two and of the three rows from there on. Hashes that would
/// include rows behind the last one are unspecified.
///
/// # Safety
/// With `AVX2`, the machine has it.
#[inline(always)]
pub(super) unsafe fn hash_row_groups_8<const AVX2: bool>(cell: &[u8; 64]) -> ([u32; 8], [u32; 8]) {
    #[cfg(target_arch = "x86_64")]
    if AVX2 {
        // SAFETY: by the contract the machine has AVX2.
        return unsafe { avx2::hash_row_groups_8(cell) };
    }
    fn rows<const N: usize>(cell: &[u8; 64]) -> [u32; 8] {
        std::array::from_fn(|row| cell[8 * row..].first_chunk::<N>().map_or(0, xxh32))
    }
    (rows::<16>(cell), rows::<24>(cell))
}

/// Returns the hashes of `L` groups, at most 8, of `N` rows of a cell of 4.
///
/// # Safety
/// With `AVX2`, the machine has it.
#[inline(always)]
pub(super) unsafe fn hash_row_groups_4<const AVX2: bool, const N: usize, const L: usize>(
    cell: &[u8; 16],
    groups: [[usize; N]; L],
) -> [u32; L] {
    const { assert!(N < 4 && L <= 8) };
    #[cfg(target_arch = "x86_64")]
    if AVX2 {
        // SAFETY: by the contract the machine has AVX2.
        return unsafe { avx2::hash_row_groups_4(cell, groups) };
    }
    groups.map(|rows| {
        let start = SEED.wrapping_add(P5).wrapping_add(4 * N as u32);
        avalanche(rows.into_iter().fold(start, |hash, row| mix(hash, read_word(cell, 4 * row))))
    })
}

/// Computes eight hashes at once.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{LANE_PARAMS, P1, P2, P3, P4, P5, SEED};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    #[inline]
    fn splat(value: u32) -> __m256i {
        _mm256_set1_epi32(value as i32)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn mul(x: __m256i, factor: u32) -> __m256i {
        _mm256_mullo_epi32(x, splat(factor))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn rotate<const LEFT: i32, const RIGHT: i32>(x: __m256i) -> __m256i {
        const { assert!(LEFT + RIGHT == 32) };
        _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn round(lane: usize, words: __m256i) -> __m256i {
        let x = _mm256_add_epi32(splat(LANE_PARAMS[lane].0), mul(words, P2));
        mul(rotate::<13, 19>(x), P1)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn mix(hashes: __m256i, words: __m256i) -> __m256i {
        mul(rotate::<17, 15>(_mm256_add_epi32(hashes, mul(words, P3))), P4)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn avalanche(h: __m256i) -> [u32; 8] {
        let h = mul(_mm256_xor_si256(h, _mm256_srli_epi32::<15>(h)), P2);
        let h = mul(_mm256_xor_si256(h, _mm256_srli_epi32::<13>(h)), P3);
        let h = _mm256_xor_si256(h, _mm256_srli_epi32::<16>(h));
        let mut hashes = [0; 8];
        // SAFETY: the array is as long as a vector.
        unsafe { _mm256_storeu_si256(hashes.as_mut_ptr().cast(), h) };
        hashes
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn hash_row_groups_8(cell: &[u8; 64]) -> ([u32; 8], [u32; 8]) {
        // SAFETY: the cell is two vectors long.
        let (top, bottom) = unsafe {
            let at = cell.as_ptr().cast::<__m256>();
            (_mm256_loadu_ps(at.cast()), _mm256_loadu_ps(at.add(1).cast()))
        };
        // The even and the odd words: the shuffle exchanges the middle two of four pairs of rows, the permutation
        // restores their order.
        let left = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(top, bottom));
        let left = _mm256_permute4x64_epi64::<0b11_01_10_00>(left);
        let right = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(top, bottom));
        let right = _mm256_permute4x64_epi64::<0b11_01_10_00>(right);
        let next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
        let third = _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 0, 1);
        let first = _mm256_add_epi32(rotate::<1, 31>(round(0, left)), rotate::<7, 25>(round(1, right)));
        let second = _mm256_add_epi32(rotate::<12, 20>(round(2, left)), rotate::<18, 14>(round(3, right)));
        let both = _mm256_add_epi32(first, _mm256_permutevar8x32_epi32(second, next));
        let triples = mix(_mm256_add_epi32(both, splat(24)), _mm256_permutevar8x32_epi32(left, third));
        let triples = mix(triples, _mm256_permutevar8x32_epi32(right, third));
        (avalanche(_mm256_add_epi32(both, splat(16))), avalanche(triples))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn hash_row_groups_4<const N: usize, const L: usize>(
        cell: &[u8; 16],
        groups: [[usize; N]; L],
    ) -> [u32; L] {
        // SAFETY: the cell is as long as half a vector.
        let rows = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(cell.as_ptr().cast()) });
        let mut hashes = splat(SEED.wrapping_add(P5).wrapping_add(4 * N as u32));
        for n in 0..N {
            let mut places = [0i32; 8];
            for (place, group) in places.iter_mut().zip(&groups) {
                *place = group[n] as i32;
            }
            // SAFETY: the array is as long as a vector.
            let places = unsafe { _mm256_loadu_si256(places.as_ptr().cast()) };
            hashes = mix(hashes, _mm256_permutevar8x32_epi32(rows, places));
        }
        let hashes = avalanche(hashes);
        std::array::from_fn(|at| hashes[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::cpu::{self, SimdLevel};

    fn check_row_group_hashes<const AVX2: bool>() {
        let bytes: [u8; 64] = std::array::from_fn(|i| (i * i * 7 + i * 31 + 5) as u8);
        // SAFETY: the caller has checked that the machine has the instructions.
        let (pairs, triples) = unsafe { hash_row_groups_8::<AVX2>(&bytes) };
        for row in 0..7 {
            assert_eq!(pairs[row], xxh32::<16>(bytes[8 * row..].first_chunk().unwrap()));
        }
        for row in 0..6 {
            assert_eq!(triples[row], xxh32::<24>(bytes[8 * row..].first_chunk().unwrap()));
        }
        let cell: &[u8; 16] = bytes.first_chunk().unwrap();
        let groups = [[0, 1, 2], [0, 1, 3], [3, 2, 0], [1, 2, 3], [2, 2, 2]];
        // SAFETY: the caller has checked that the machine has the instructions.
        let hashes = unsafe { hash_row_groups_4::<AVX2, 3, 5>(cell, groups) };
        for (hash_of_group, rows) in hashes.into_iter().zip(groups) {
            let piece: Vec<u8> = rows.iter().flat_map(|row| &cell[4 * row..4 * row + 4]).copied().collect();
            assert_eq!(hash_of_group, xxh32::<12>(piece.first_chunk().unwrap()));
        }
    }

    #[test]
    fn row_group_hashes_equal_single_hashes() {
        check_row_group_hashes::<false>();
        if cpu::available_levels().any(SimdLevel::has_avx2) {
            check_row_group_hashes::<true>();
        }
    }

    #[test]
    fn hashes_are_those_of_the_document() {
        fn counted<const N: usize>() -> [u8; N] {
            std::array::from_fn(|i| i as u8)
        }
        assert_eq!(xxh32(&counted::<16>()), 0xc65a_436e);
        assert_eq!(xxh32(&counted::<12>()), 0x3cff_c34f);
        assert_eq!(xxh32(&counted::<8>()), 0xf75f_026c);
        assert_eq!(xxh32(&counted::<64>()), 0x55e9_e5a0);
        assert_eq!(xxh32(&counted::<24>()), 0xeb0e_891c);
    }
}
