//! The byte shuffle with AVX2: columns of 32 elements are stored directly to their streams.
//!
//! With `DELTA`, streams are also coded by a bytedelta, while they are in registers (`filters.md` 8).

use super::super::bytedelta::columns::avx2 as delta;
use super::super::columns::avx2::{MAX_WIDTH, TILE, TileLayout, exchange_parts};
use super::super::columns::{covering_start_groups, covering_starts, prefetch_dest};
use super::generic::{self, count_elements};
use std::arch::x86_64::*;

/// For elements of more than 16 columns: the number of tiles of which 16 columns are processed before the next 16.
const TILES_PER_RUN: usize = 16;

/// The number of elements of a tile that holds 32 bytes of each element.
const SMALL_TILE: usize = 16;

/// Shuffles whole elements.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes; with `DELTA`,
/// [`super::can_fuse_bytedelta`] is true for them.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn shuffle<const DELTA: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize {
        return if src.len() >= SMALL_TILE * typesize && typesize >= 2 * MAX_WIDTH {
            // SAFETY: this function has AVX2, and there are as many elements and as wide ones.
            unsafe { forward_small_tile(typesize, src, dest) }
        } else {
            generic::shuffle(typesize, src, dest)
        };
    }
    // SAFETY: (all) this function has AVX2; the lengths are equal by the caller, and hold the tiles by the checks here.
    unsafe {
        match typesize {
            2 => forward::<2, DELTA>(2, src, dest),
            4 => forward::<4, DELTA>(4, src, dest),
            3 => forward::<4, DELTA>(3, src, dest),
            8 => forward::<8, DELTA>(8, src, dest),
            5..=7 => forward::<8, DELTA>(typesize, src, dest),
            16 => forward::<16, DELTA>(16, src, dest),
            _ => forward::<16, DELTA>(typesize, src, dest),
        }
    }
}

/// Undoes [`shuffle`].
///
/// # Safety
/// As for [`shuffle`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn unshuffle<const DELTA: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize {
        return if src.len() >= SMALL_TILE * typesize && typesize >= 2 * MAX_WIDTH {
            // SAFETY: this function has AVX2, and there are as many elements and as wide ones.
            unsafe { backward_small_tile(typesize, src, dest) }
        } else {
            generic::unshuffle(typesize, src, dest)
        };
    }
    let elements = count_elements(src.len(), typesize);
    let streams = |j: usize| src.as_ptr().wrapping_add(j * elements);
    // SAFETY: (all) this function has AVX2; by the caller each stream is as long as there are elements, at least a
    // tile.
    unsafe {
        match typesize {
            2 => backward::<2, DELTA>(2, streams, dest),
            4 => backward::<4, DELTA>(4, streams, dest),
            3 => backward::<4, DELTA>(3, streams, dest),
            8 => backward::<8, DELTA>(8, streams, dest),
            5..=7 => backward::<8, DELTA>(typesize, streams, dest),
            16 => backward::<16, DELTA>(16, streams, dest),
            _ => backward::<16, DELTA>(typesize, streams, dest),
        }
    }
}

/// Unshuffles like [`unshuffle`], with streams at any addresses, for the typesizes for which
/// [`super::can_unshuffle_planes`] is true.
///
/// # Safety
/// `TILE` elements at least; `dest.len() / typesize` bytes can be read from each of the pointers.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn unshuffle_planes(typesize: usize, planes: &[*const u8; 8], dest: &mut [u8]) {
    let streams = |j: usize| planes[j];
    // SAFETY: (all) this function has AVX2; the rest by the caller.
    unsafe {
        match typesize {
            2 => backward::<2, false>(2, streams, dest),
            4 => backward::<4, false>(4, streams, dest),
            _ => backward::<8, false>(8, streams, dest),
        }
    }
}

/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward<const P: usize, const DELTA: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { TileLayout::<P>::new(typesize) };
    for group in covering_start_groups(src.len() / typesize, TILE, TILES_PER_RUN) {
        for column in covering_starts(typesize, typesize.min(MAX_WIDTH)) {
            for first in group.clone() {
                // SAFETY: AVX2 by the caller; the tile is in both, the columns are in an element.
                unsafe { forward_tile::<P, DELTA>(&layout, typesize, first, column, src, dest) };
            }
        }
    }
}

/// Shuffles the columns from `column` on of the tile of the elements from `first` on.
///
/// # Safety
/// The machine has AVX2; the lengths are equal, and the tile and the columns exist.
#[inline(always)]
unsafe fn forward_tile<const P: usize, const DELTA: bool>(
    layout: &TileLayout<P>,
    typesize: usize,
    first: usize,
    column: usize,
    src: &[u8],
    dest: &mut [u8],
) {
    let elements = src.len() / typesize;
    let at = first * typesize + column;
    // SAFETY: by the contract the machine has AVX2. Elements `first..first + TILE` are in `src`, bytes
    // `column..column + width` are in an element, and each stream in `dest` is `elements` long.
    unsafe {
        let mut columns = layout.gather(src.as_ptr().add(at), src.len() - at);
        if DELTA {
            for (j, vector) in columns.iter_mut().enumerate().take(layout.width()) {
                let before = if first == 0 { 0 } else { src.as_ptr().add(at - typesize + j).read() };
                *vector = delta::differences(*vector, before);
            }
        }
        for (j, &vector) in columns.iter().enumerate() {
            if j < layout.width() {
                let at = (column + j) * elements + first;
                prefetch_dest(dest, at + 4 * TILE);
                _mm256_storeu_si256(dest.as_mut_ptr().add(at).cast(), vector);
            }
        }
    }
}

/// # Safety
/// The machine has AVX2; `dest` holds at least a tile, and each of the `streams` has one byte per element of `dest`.
#[inline(always)]
unsafe fn backward<const P: usize, const DELTA: bool>(
    typesize: usize,
    streams: impl Fn(usize) -> *const u8,
    dest: &mut [u8],
) {
    let elements = dest.len() / typesize;
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { TileLayout::<P>::new(typesize) };
    // The sums of the streams so far. Elements that are wider than a tile are not summed.
    // SAFETY: AVX2 by the caller.
    let mut carries = unsafe { [_mm256_setzero_si256(); P] };
    for first in covering_starts(elements, TILE) {
        for column in covering_starts(typesize, typesize.min(MAX_WIDTH)) {
            let at = first * typesize + column;
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                let mut columns = [_mm256_setzero_si256(); P];
                for (j, vector) in columns.iter_mut().enumerate() {
                    if j < layout.width() {
                        *vector = _mm256_loadu_si256(streams(column + j).add(first).cast());
                    }
                }
                if DELTA {
                    if !first.is_multiple_of(TILE) {
                        // The last tile overlaps the one before.
                        let before = dest.as_ptr().add(at - typesize);
                        for (j, carry) in carries.iter_mut().enumerate().take(layout.width()) {
                            *carry = _mm256_set1_epi8(before.add(j).read() as i8);
                        }
                    }
                    for (vector, carry) in columns.iter_mut().zip(&mut carries).take(layout.width()) {
                        (*vector, *carry) = delta::sums(*vector, *carry);
                    }
                }
                layout.scatter(columns, dest.as_mut_ptr().add(at), dest.len() - at);
            }
        }
    }
}

/// [`forward`] for blocks of less than `TILE` elements: both lanes process the same 16 elements, but different bytes
/// of them.
///
/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least `SMALL_TILE` elements of at least 32 bytes.
#[inline(always)]
unsafe fn forward_small_tile(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    for first in covering_starts(elements, SMALL_TILE) {
        for column in covering_starts(typesize, 2 * MAX_WIDTH) {
            // SAFETY: AVX2 by the caller. Elements `first..first + SMALL_TILE` are in `src`, bytes `column..column +
            // 32` are in an element, and each stream in `dest` is `elements` long.
            unsafe {
                let mut rows = [_mm256_setzero_si256(); SMALL_TILE];
                for (i, row) in rows.iter_mut().enumerate() {
                    *row = _mm256_loadu_si256(src.as_ptr().add((first + i) * typesize + column).cast());
                }
                for (j, &vector) in exchange_parts(rows).iter().enumerate() {
                    let stream = dest.as_mut_ptr().add((column + j) * elements + first);
                    _mm_storeu_si128(stream.cast(), _mm256_castsi256_si128(vector));
                    let stream = stream.add(MAX_WIDTH * elements);
                    _mm_storeu_si128(stream.cast(), _mm256_extracti128_si256::<1>(vector));
                }
            }
        }
    }
}

/// Undoes [`forward_small_tile`].
///
/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least `SMALL_TILE` elements of at least 32 bytes.
#[inline(always)]
unsafe fn backward_small_tile(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    for first in covering_starts(elements, SMALL_TILE) {
        for column in covering_starts(typesize, 2 * MAX_WIDTH) {
            // SAFETY: as in `forward_small_tile`, with source and destination exchanged.
            unsafe {
                let mut columns = [_mm256_setzero_si256(); SMALL_TILE];
                for (j, vector) in columns.iter_mut().enumerate() {
                    let stream = src.as_ptr().add((column + j) * elements + first);
                    let low = _mm_loadu_si128(stream.cast());
                    let high = _mm_loadu_si128(stream.add(MAX_WIDTH * elements).cast());
                    *vector = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
                }
                for (i, &row) in exchange_parts(columns).iter().enumerate() {
                    let at = (first + i) * typesize + column;
                    _mm256_storeu_si256(dest.as_mut_ptr().add(at).cast(), row);
                }
            }
        }
    }
}
