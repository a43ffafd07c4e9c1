//! The byte shuffle with AVX-512: columns of 64 elements, a whole cache line, go straight to their streams.

use super::super::columns::avx512::{Packed, Slotted, TILE, Tiles, Wide};
use super::super::columns::pieces;
use super::avx2;
use std::arch::x86_64::*;

/// Shuffles whole elements: `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return avx2::shuffle(typesize, src, dest);
    }
    // SAFETY: (all) this function has the AVX-512 level.
    unsafe {
        match typesize {
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

/// Undoes [`shuffle`], under the same conditions.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return avx2::unshuffle(typesize, src, dest);
    }
    // SAFETY: (all) this function has the AVX-512 level.
    unsafe {
        match typesize {
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

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward(tiles: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    for first in pieces(elements, TILE) {
        for column in pieces(typesize, tiles.width()) {
            // SAFETY: the level by the caller. Elements `first..first + TILE` are in `src`, bytes
            // `column..column + width` are in an element, and each stream in `dest` is `elements` long.
            unsafe {
                let columns = tiles.gather::<false>(src.as_ptr().add(first * typesize + column));
                for (j, &vector) in columns.iter().enumerate() {
                    if j < tiles.width() {
                        _mm512_storeu_si512(
                            dest.as_mut_ptr().add((column + j) * elements + first).cast(),
                            vector,
                        );
                    }
                }
            }
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn backward(tiles: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    for first in pieces(elements, TILE) {
        for column in pieces(typesize, tiles.width()) {
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                let mut columns = [_mm512_setzero_si512(); _];
                for (j, vector) in columns.iter_mut().enumerate() {
                    if j < tiles.width() {
                        *vector =
                            _mm512_loadu_si512(src.as_ptr().add((column + j) * elements + first).cast());
                    }
                }
                tiles.scatter(columns, dest.as_mut_ptr().add(first * typesize + column));
            }
        }
    }
}
