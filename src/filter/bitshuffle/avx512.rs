//! The bit shuffle with AVX-512 and GFNI, in one pass: columns of 64 elements in registers, 8x8 bit transposes by an
//! affine transform, and a tile in the L1 cache so that bit rows are written in whole cache lines.

use super::super::columns::avx512::{MAX_WIDTH, Packed, Slotted, TILE, Tiles, Wide, join, split};
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
                            scratch[j][tile].write(transpose_bits(vector));
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
                    split::<GROUP, false>(&mut rows, 0);
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
                    // In reverse, as `transpose_bits` wants them.
                    for (b, vector) in rows.iter_mut().rev().enumerate() {
                        *vector = if tiles == TILES {
                            _mm512_loadu_si512(at.add(b * row).cast())
                        } else {
                            _mm512_maskz_loadu_epi8(mask, at.add(b * row).cast())
                        };
                    }
                    join::<GROUP>(&mut rows, 0);
                    for (tile, &vector) in rows.iter().enumerate() {
                        vectors[tile].write(transpose_bits(vector));
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

/// Transposes the 8x8 bit matrix in each 64-bit word, the bytes of which are in reverse order: the first
/// row is the last byte. The columns come out with the first one in the first byte.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn transpose_bits(matrices: __m512i) -> __m512i {
    // An affine transform of a byte with a bit matrix gives, in its bit `i`, the parity of the byte and row `7 - i` of
    // the matrix. With bytes of a single bit, the data is the matrix and this just picks the bit.
    const SINGLE_BITS: i64 = 0x8040_2010_0804_0201_u64 as i64;
    // SAFETY: the level by the caller.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(SINGLE_BITS), matrices) }
}
