//! The byte shuffle of elements of 8 and 16 bytes, four streams at a time.
//!
//! Streams that are a multiple of [`CACHE_SET_STRIDE`] apart, as in blocks whose length is a power of two, all map to
//! one set of the L1 cache, which holds eight lines. If one line of each stream were written in turn, the lines would
//! evict each other before they are complete. Here a few lines of four streams are written before the next four
//! streams, and the elements are read again for each four.

use super::super::bytedelta::columns::{avx2 as delta_avx2, avx512 as delta_avx512};
use super::super::columns::avx2::{TILE as TILE_AVX2, TileLayout};
use super::super::columns::avx512::{TILE as TILE_AVX512, load_table, table};
use super::super::columns::{covering_start_groups, prefetch_dest};
use crate::tuning::tunable;
use std::arch::x86_64::*;

/// The distance in bytes of two addresses that share a set of the L1 cache: 64 sets of lines of 64 bytes, in all x86
/// processors.
const CACHE_SET_STRIDE: usize = 4096;
const CACHE_LINE: usize = 64;

tunable! {
    /// Whether streams that conflict in the cache are written four at a time.
    pub(super) const HAS_CACHE_BLOCKING: bool = true;
}

/// The number of streams that are written together, and of the bytes of an element that they hold.
const STREAMS: usize = 4;

/// The number of bytes of each stream that are written before the next four streams.
const BYTES_PER_RUN: usize = 8 * CACHE_LINE;

/// Returns whether contiguous streams of `elements` bytes map to one cache set, or to one of `sets` sets.
pub(super) fn has_cache_set_conflicts(elements: usize, sets: usize) -> bool {
    HAS_CACHE_BLOCKING.get() && (elements + CACHE_LINE) % (CACHE_SET_STRIDE / sets) <= 2 * CACHE_LINE
}

/// Shuffles whole elements of `N` bytes, 8 or 16; [`BYTES_PER_RUN`] bytes of a stream at a time if the streams
/// [conflict in the cache](has_cache_set_conflicts).
///
/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
pub(super) unsafe fn forward_avx512<const N: usize, const DELTA: bool>(src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / N;
    let count = if has_cache_set_conflicts(elements, N / 8) { BYTES_PER_RUN / TILE_AVX512 } else { 1 };
    for group in covering_start_groups(elements, TILE_AVX512, count) {
        for column in (0..N).step_by(STREAMS) {
            for first in group.clone() {
                let at = first * N;
                // SAFETY: the level by the caller. Elements `first..first + TILE` are in `src`, and each stream in
                // `dest` is `elements` long. With `DELTA`, 16 bytes from an element before the tile, which is longer,
                // are in `src`.
                unsafe {
                    let mut columns = gather_avx512::<N>(src.as_ptr().add(at), column);
                    if DELTA {
                        let before = match first {
                            0 => _mm_setzero_si128(),
                            _ => _mm_loadu_si128(src.as_ptr().add(at - N + column).cast()),
                        };
                        delta_avx512::differences(&mut columns, before);
                    }
                    for (j, &vector) in columns.iter().enumerate() {
                        let at = (column + j) * elements + first;
                        prefetch_dest(dest, at + 2 * TILE_AVX512);
                        _mm512_storeu_si512(dest.as_mut_ptr().add(at).cast(), vector);
                    }
                }
            }
        }
    }
}

/// Returns the columns from `column` on, a multiple of 4, of the tile at `src`.
///
/// # Safety
/// The machine has the AVX-512 level, and the tile can be read.
#[inline(always)]
unsafe fn gather_avx512<const N: usize>(src: *const u8, column: usize) -> [__m512i; STREAMS] {
    // Four columns of 16 elements each, one column in each lane.
    // SAFETY: the level by the caller.
    let mut quarters = unsafe { [_mm512_setzero_si512(); 4] };
    for (i, quarter) in quarters.iter_mut().enumerate() {
        // SAFETY: the level by the caller; the tile is `N` vectors, a quarter of them is read.
        unsafe {
            let from = src.add(i * N / 4 * TILE_AVX512);
            *quarter = if N == 8 {
                permute_two_vectors(from, &COLUMNS_OF_8[column / STREAMS])
            } else {
                let order = &COLUMNS_OF_16[column / STREAMS];
                let high = permute_two_vectors(from.add(2 * TILE_AVX512), order);
                _mm512_mask_mov_epi64(permute_two_vectors(from, order), 0b1010_1010, high)
            };
        }
    }
    // SAFETY: the level by the caller.
    unsafe {
        let [a, b, c, d] = quarters;
        let (ab, cd) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
        let (ef, gh) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(ab, cd),
            _mm512_shuffle_i64x2::<0xdd>(ab, cd),
            _mm512_shuffle_i64x2::<0x88>(ef, gh),
            _mm512_shuffle_i64x2::<0xdd>(ef, gh),
        ]
    }
}

/// Returns bytes of the two vectors at `from` in that order.
///
/// # Safety
/// The machine has the AVX-512 level, and the vectors can be read.
#[inline(always)]
unsafe fn permute_two_vectors(from: *const u8, order: &[u8; TILE_AVX512]) -> __m512i {
    // SAFETY: by the caller.
    unsafe {
        let second = _mm512_loadu_si512(from.add(TILE_AVX512).cast());
        _mm512_permutex2var_epi8(_mm512_loadu_si512(from.cast()), load_table(order), second)
    }
}

/// For each four columns: the indices, in two vectors of 16 elements of 8 bytes, of the bytes of column `j`, which go
/// to lane `j`.
static COLUMNS_OF_8: [[u8; TILE_AVX512]; 2] =
    [table!(at => at % 16 * 8 + at / 16), table!(at => at % 16 * 8 + STREAMS + at / 16)];

/// The same for 8 elements of 16 bytes, in both halves of a lane.
static COLUMNS_OF_16: [[u8; TILE_AVX512]; 4] = [
    table!(at => at % 8 * 16 + at / 16),
    table!(at => at % 8 * 16 + STREAMS + at / 16),
    table!(at => at % 8 * 16 + 2 * STREAMS + at / 16),
    table!(at => at % 8 * 16 + 3 * STREAMS + at / 16),
];

/// Shuffles like [`forward_avx512`], for streams that [conflict in the cache](has_cache_set_conflicts).
///
/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least a tile.
#[inline(always)]
pub(super) unsafe fn forward_avx2<const N: usize, const DELTA: bool>(src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / N;
    // SAFETY: (all) by the caller.
    unsafe {
        let layout = TileLayout::<STREAMS>::new(STREAMS);
        for group in covering_start_groups(elements, TILE_AVX2, BYTES_PER_RUN / TILE_AVX2) {
            forward_streams_avx2::<N, 0, DELTA>(&layout, group.clone(), src, dest);
            forward_streams_avx2::<N, 1, DELTA>(&layout, group.clone(), src, dest);
            if N == 16 {
                forward_streams_avx2::<N, 2, DELTA>(&layout, group.clone(), src, dest);
                forward_streams_avx2::<N, 3, DELTA>(&layout, group, src, dest);
            }
        }
    }
}

/// Writes the `PART`th four streams of the tiles that begin at `firsts`.
///
/// # Safety
/// The machine has AVX2; the lengths are equal, and the tiles inside `src`.
#[inline(always)]
unsafe fn forward_streams_avx2<const N: usize, const PART: usize, const DELTA: bool>(
    layout: &TileLayout<STREAMS>,
    firsts: impl Iterator<Item = usize>,
    src: &[u8],
    dest: &mut [u8],
) {
    let elements = src.len() / N;
    for first in firsts {
        let at = first * N;
        // SAFETY: AVX2 by the caller. Elements `first..first + TILE` are in `src`, and each stream in `dest` is
        // `elements` long.
        unsafe {
            let mut rows = [_mm256_setzero_si256(); STREAMS];
            for (v, row) in rows.iter_mut().enumerate() {
                let four = src.as_ptr().add(at + v * STREAMS * N);
                *row = load_words::<N, PART>(four, four.add(TILE_AVX2 / 2 * N));
            }
            let mut columns = layout.rows_to_columns(rows);
            for (j, vector) in columns.iter_mut().enumerate() {
                let column = PART * STREAMS + j;
                if DELTA {
                    let before = if first == 0 { 0 } else { src.as_ptr().add(at - N + column).read() };
                    *vector = delta_avx2::differences(*vector, before);
                }
                let at = column * elements + first;
                prefetch_dest(dest, at + 4 * TILE_AVX2);
                _mm256_storeu_si256(dest.as_mut_ptr().add(at).cast(), *vector);
            }
        }
    }
}

/// Returns the `PART`th 4 bytes of each of four elements of `N` bytes at `low`, and of four at `high`, in the two
/// lanes.
///
/// # Safety
/// The machine has AVX2, and the elements can be read.
#[inline(always)]
unsafe fn load_words<const N: usize, const PART: usize>(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: AVX2 by the caller. Each read is inside the four elements: of elements of 8 bytes, two are read at a
    // time; of elements of 16 bytes, each read begins so that the word is at its index in the lane, at most 12 bytes
    // behind the start for the first element, and 12 bytes before the word for the last.
    unsafe {
        if N == 8 {
            let (a, b) = (load_lanes(low, high, 0), load_lanes(low, high, 16));
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let words =
                if PART == 0 { _mm256_shuffle_ps::<0x88>(a, b) } else { _mm256_shuffle_ps::<0xdd>(a, b) };
            return _mm256_castps_si256(words);
        }
        let (a, b) = (load_lanes(low, high, PART * 4), load_lanes(low, high, N + PART * 4 - 4));
        let (c, d) =
            (load_lanes(low, high, 2 * N + PART * 4 - 8), load_lanes(low, high, 3 * N + PART * 4 - 12));
        let (ab, cd) = (_mm256_blend_epi32::<0b1010_1010>(a, b), _mm256_blend_epi32::<0b1010_1010>(c, d));
        _mm256_blend_epi32::<0b1100_1100>(ab, cd)
    }
}

/// Returns the 16 bytes at `offset` from two addresses.
///
/// # Safety
/// The machine has AVX2, and the bytes can be read.
#[inline(always)]
unsafe fn load_lanes(low: *const u8, high: *const u8, offset: usize) -> __m256i {
    // SAFETY: by the caller.
    unsafe {
        let low = _mm_loadu_si128(low.add(offset).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), _mm_loadu_si128(high.add(offset).cast()))
    }
}
