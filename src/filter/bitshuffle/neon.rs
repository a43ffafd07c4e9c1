//! The bit shuffle with NEON: columns of elements in registers, from which 8 bits of each byte are exchanged with 8
//! elements.

use super::super::columns::covering_starts;
use super::super::columns::neon::{NeonLayout, TILE, join_rows, split_rows, with_layout};
use super::generic::{self, GROUP};
use std::arch::aarch64::*;

/// The number of tiles whose bit rows fill a vector together.
const TILES: usize = 8;

/// The number of elements of `TILES` tiles.
const ELEMENTS: usize = TILES * TILE;

/// Shuffles whole groups of 8 elements, or unshuffles them if not `FORWARD`.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `8 * typesize`.
#[target_feature(enable = "neon")]
pub(super) unsafe fn run<const FORWARD: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < ELEMENTS * typesize {
        return if FORWARD {
            generic::bitshuffle(typesize, src, dest)
        } else {
            generic::bitunshuffle(typesize, src, dest)
        };
    }
    // SAFETY: this function has NEON; the lengths are equal by the caller, and hold `TILES` tiles by the check here.
    unsafe { with_layout!(typesize, run_tiles::<FORWARD>(src, dest)) }
}

/// # Safety
/// The machine has NEON; the lengths are equal and hold at least `TILES` tiles.
#[inline(always)]
unsafe fn run_tiles<const FORWARD: bool, const P: usize>(layout: NeonLayout<P>, src: &[u8], dest: &mut [u8]) {
    let (stride, width) = (layout.stride(), layout.width());
    let elements = src.len() / stride;
    let row = elements / GROUP;
    // SAFETY: NEON by the caller.
    let mut tiles = unsafe { [[vdupq_n_u8(0); P]; TILES] };
    for first in covering_starts(elements, ELEMENTS) {
        for column in covering_starts(stride, width) {
            let tile_start = |tile| (first + tile * TILE) * stride + column;
            let row_start = |j, b| ((column + j) * GROUP + b) * row + first / GROUP;
            // SAFETY: (all) NEON by the caller; the tiles' elements are in both buffers, and bytes `column..column + width`
            // are in an element; each bit row is `row` bytes long, of which `ELEMENTS / GROUP`, a vector, from `first / GROUP`
            // on belong to the tiles.
            unsafe {
                if FORWARD {
                    for (tile, columns) in tiles.iter_mut().enumerate() {
                        let at = tile_start(tile);
                        *columns = layout.gather(src.as_ptr().add(at), src.len() - at);
                    }
                    for j in 0..width {
                        let column = tiles.each_ref().map(|columns| columns[j]);
                        for (b, vector) in transpose_bits(split_rows(column)).into_iter().enumerate() {
                            vst1q_u8(dest.as_mut_ptr().add(row_start(j, b)), vector);
                        }
                    }
                } else {
                    for j in 0..width {
                        let rows = std::array::from_fn(|b| vld1q_u8(src.as_ptr().add(row_start(j, b))));
                        for (columns, vector) in tiles.iter_mut().zip(join_rows(transpose_bits(rows))) {
                            columns[j] = vector;
                        }
                    }
                    for (tile, &columns) in tiles.iter().enumerate() {
                        let at = tile_start(tile);
                        layout.scatter(columns, dest.as_mut_ptr().add(at), dest.len() - at);
                    }
                }
            }
        }
    }
}

/// Transposes bits: bit `b` of a byte of vector `k` becomes bit `k` of that byte of vector `b`. It is its own inverse.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn transpose_bits(rows: [uint8x16_t; GROUP]) -> [uint8x16_t; GROUP] {
    // SAFETY: NEON by the caller.
    unsafe { swap_bits::<1>(swap_bits::<2>(swap_bits::<4>(rows, 0x0f), 0x33), 0x55) }
}

/// Swaps, in each pair of vectors `DISTANCE` apart, the bits of the first that are not in `low` with those of the second that
/// are, `DISTANCE` places below.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn swap_bits<const DISTANCE: i32>(mut rows: [uint8x16_t; GROUP], low: u8) -> [uint8x16_t; GROUP] {
    for i in (0..GROUP).filter(|i| i & DISTANCE as usize == 0) {
        let (a, b) = (rows[i], rows[i + DISTANCE as usize]);
        // SAFETY: NEON by the caller.
        unsafe {
            rows[i] = vbslq_u8(vdupq_n_u8(low), a, vshlq_n_u8::<DISTANCE>(b));
            rows[i + DISTANCE as usize] = vbslq_u8(vdupq_n_u8(low), vshrq_n_u8::<DISTANCE>(a), b);
        }
    }
    rows
}
