//! The bit shuffle with AVX-512 and GFNI, in one pass: columns of 64 elements in registers, 8x8 bit transposes by an
//! affine transform, and a tile in the L1 cache so that bit rows are written in whole cache lines.

use super::super::columns::avx512::{MAX_WIDTH, Packed, Slotted, TILE, Tiles, Wide, load, table};
use super::super::columns::pieces;
use super::{GROUP, avx2};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Tiles whose bit rows fill a cache line together.
const TILES: usize = 8;

/// Elements of that many tiles.
const ELEMENTS: usize = TILES * TILE;

/// The columns of `TILES` tiles, or the bits of the columns: for each column a vector for each tile.
type Scratch = [[MaybeUninit<__m512i>; TILES]; MAX_WIDTH];

/// Shuffles whole groups: `src.len() == dest.len()`, a multiple of `8 * typesize`.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return avx2::bitshuffle(typesize, src, dest);
    }
    // SAFETY: (all) this function has the AVX-512 level.
    unsafe {
        match typesize {
            1 => forward(Packed::<1, 1>, 1, src, dest),
            2 => forward(Packed::<1, 2>, 2, src, dest),
            3 => forward(Packed::<3, 1>, 3, src, dest),
            4 => forward(Packed::<1, 4>, 4, src, dest),
            5 => forward(Packed::<5, 1>, 5, src, dest),
            6 => forward(Packed::<3, 2>, 6, src, dest),
            7 => forward(Slotted::<8>::new(7), 7, src, dest),
            8 => forward(Packed::<1, 8>, 8, src, dest),
            10 => forward(Packed::<5, 2>, 10, src, dest),
            12 => forward(Packed::<3, 4>, 12, src, dest),
            ..16 => forward(Slotted::<16>::new(typesize), typesize, src, dest),
            16 => forward(Packed::<1, 16>, 16, src, dest),
            _ => forward(Wide::new(typesize), typesize, src, dest),
        }
    }
}

/// Undoes [`bitshuffle`], under the same conditions.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return avx2::bitunshuffle(typesize, src, dest);
    }
    // SAFETY: (all) this function has the AVX-512 level.
    unsafe {
        match typesize {
            1 => backward(Packed::<1, 1>, 1, src, dest),
            2 => backward(Packed::<1, 2>, 2, src, dest),
            3 => backward(Packed::<3, 1>, 3, src, dest),
            4 => backward(Packed::<1, 4>, 4, src, dest),
            5 => backward(Packed::<5, 1>, 5, src, dest),
            6 => backward(Packed::<3, 2>, 6, src, dest),
            7 => backward(Slotted::<8>::new(7), 7, src, dest),
            8 => backward(Packed::<1, 8>, 8, src, dest),
            10 => backward(Packed::<5, 2>, 10, src, dest),
            12 => backward(Packed::<3, 4>, 12, src, dest),
            ..16 => backward(Slotted::<16>::new(typesize), typesize, src, dest),
            16 => backward(Packed::<1, 16>, 16, src, dest),
            _ => backward(Wide::new(typesize), typesize, src, dest),
        }
    }
}

/// The pieces of a block of at least a tile of elements that are worked on together: first element and number of tiles.
#[inline(always)]
fn batches(elements: usize) -> impl Iterator<Item = (usize, usize)> {
    let tiles = (elements / TILE).min(TILES);
    let covered = if elements >= ELEMENTS { elements } else { tiles * TILE };
    // A block of less than `ELEMENTS` may end with a part of a tile.
    let rest = (covered < elements).then(|| (elements - TILE, 1));
    pieces(covered, tiles * TILE).map(move |first| (first, tiles)).chain(rest)
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward(layout: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    let mut scratch: Scratch = [[MaybeUninit::uninit(); TILES]; MAX_WIDTH];
    for (first, tiles) in batches(elements) {
        let mask = u64::MAX >> (64 - tiles * 8);
        for column in pieces(typesize, layout.width()) {
            // SAFETY: the level by the caller. Elements `first..first + tiles * TILE` are in `src`, bytes
            // `column..column + width` are in an element, and each bit row in `dest` is `row` bytes long.
            unsafe {
                for (tile, start) in (first..).step_by(TILE).enumerate().take(tiles) {
                    let at = start * typesize + column;
                    let columns = layout.gather::<true>(src.as_ptr().add(at));
                    for (j, &vector) in columns.iter().enumerate() {
                        if j < layout.width() {
                            scratch[j][tile].write(bits_of_column(vector));
                        }
                    }
                }
                for (j, vectors) in scratch.iter().enumerate().take(layout.width()) {
                    let mut rows = [_mm512_setzero_si512(); TILES];
                    for (tile, vector) in rows.iter_mut().enumerate() {
                        if tile < tiles {
                            *vector = vectors[tile].assume_init();
                        }
                    }
                    let rows = exchange_words(rows);
                    let at = dest.as_mut_ptr().add((column + j) * GROUP * row + first / GROUP);
                    if tiles == TILES {
                        for (b, &vector) in rows.iter().enumerate() {
                            _mm512_storeu_si512(at.add(b * row).cast(), vector);
                        }
                    } else {
                        for (b, &vector) in rows.iter().enumerate() {
                            _mm512_mask_storeu_epi8(at.add(b * row).cast(), mask, vector);
                        }
                    }
                }
            }
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn backward(layout: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let row = elements / GROUP;
    let mut scratch: Scratch = [[MaybeUninit::uninit(); TILES]; MAX_WIDTH];
    for (first, tiles) in batches(elements) {
        let mask = u64::MAX >> (64 - tiles * 8);
        for column in pieces(typesize, layout.width()) {
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                for (j, vectors) in scratch.iter_mut().enumerate().take(layout.width()) {
                    let at = src.as_ptr().add((column + j) * GROUP * row + first / GROUP);
                    let mut rows = [_mm512_setzero_si512(); GROUP];
                    for (b, vector) in rows.iter_mut().enumerate() {
                        *vector = if tiles == TILES {
                            _mm512_loadu_si512(at.add(b * row).cast())
                        } else {
                            _mm512_maskz_loadu_epi8(mask, at.add(b * row).cast())
                        };
                    }
                    for (tile, &vector) in exchange_words(rows).iter().enumerate() {
                        vectors[tile].write(column_of_bits(vector));
                    }
                }
                for (tile, start) in (first..).step_by(TILE).enumerate().take(tiles) {
                    let mut columns = [_mm512_setzero_si512(); MAX_WIDTH];
                    for (j, vector) in columns.iter_mut().enumerate() {
                        if j < layout.width() {
                            *vector = scratch[j][tile].assume_init();
                        }
                    }
                    let at = start * typesize + column;
                    layout.scatter(columns, dest.as_mut_ptr().add(at));
                }
            }
        }
    }
}

/// The matrix operand of an affine transform whose other operand is this holds bits that come out transposed:
/// bit `i` of byte `k` of the result is bit `k` of byte `7 - i`.
const UNIT: i64 = 0x8040_2010_0804_0201_u64 as i64;

/// The 8 words of bits, one for each bit row, of a column of 64 elements whose groups of 8 bytes are in reverse order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn bits_of_column(column: __m512i) -> __m512i {
    // SAFETY: the level by the caller.
    unsafe {
        let bits = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(UNIT), column);
        _mm512_permutexvar_epi8(load(&TRANSPOSE), bits)
    }
}

/// The inverse of [`bits_of_column`], but with the elements in their order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn column_of_bits(bits: __m512i) -> __m512i {
    // SAFETY: the level by the caller.
    unsafe {
        let matrices = _mm512_permutexvar_epi8(load(&TRANSPOSE_REVERSED), bits);
        _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(UNIT), matrices)
    }
}

/// Byte `j` of word `i` becomes byte `i` of word `j`.
static TRANSPOSE: [u8; TILE] = table!(at => at % 8 * 8 + at / 8);

/// The same, with the bytes of each word in reverse order afterwards.
static TRANSPOSE_REVERSED: [u8; TILE] = table!(at => (at ^ 7) % 8 * 8 + at / 8);

/// Transposes the 8x8 matrix of 64-bit words.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn exchange_words(rows: [__m512i; 8]) -> [__m512i; 8] {
    // SAFETY: the level by the caller.
    unsafe {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        // Words 0, 2, 4, 6 (even) or 1, 3, 5, 7 (odd) of two rows, side by side.
        let (e01, e23, e45, e67) = (
            _mm512_unpacklo_epi64(r0, r1),
            _mm512_unpacklo_epi64(r2, r3),
            _mm512_unpacklo_epi64(r4, r5),
            _mm512_unpacklo_epi64(r6, r7),
        );
        let (o01, o23, o45, o67) = (
            _mm512_unpackhi_epi64(r0, r1),
            _mm512_unpackhi_epi64(r2, r3),
            _mm512_unpackhi_epi64(r4, r5),
            _mm512_unpackhi_epi64(r6, r7),
        );
        let (w0, w2, w4, w6) = exchange_lanes(e01, e23, e45, e67);
        let (w1, w3, w5, w7) = exchange_lanes(o01, o23, o45, o67);
        [w0, w1, w2, w3, w4, w5, w6, w7]
    }
}

/// Transposes the 4x4 matrix of 128-bit lanes.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn exchange_lanes(
    a: __m512i,
    b: __m512i,
    c: __m512i,
    d: __m512i,
) -> (__m512i, __m512i, __m512i, __m512i) {
    // SAFETY: the level by the caller.
    unsafe {
        let ab_02 = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        let ab_13 = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
        let cd_02 = _mm512_shuffle_i64x2::<0b10_00_10_00>(c, d);
        let cd_13 = _mm512_shuffle_i64x2::<0b11_01_11_01>(c, d);
        (
            _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_02, cd_02),
            _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_13, cd_13),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_02, cd_02),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_13, cd_13),
        )
    }
}
