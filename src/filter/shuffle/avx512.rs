//! The byte shuffle with AVX-512: columns of 64 elements, a whole cache line, are stored directly to their streams.
//!
//! With `DELTA`, streams are also coded by a bytedelta, while they are in registers (`filters.md` 8).

use super::super::bytedelta::columns::avx512 as delta;
use super::super::columns::avx512::{Columns, PackedTiles, SlottedTiles, TILE, Tiles, WideTiles, has_tiles};
use super::super::columns::{covering_start_groups, covering_starts, prefetch_dest};
use super::avx2;
use super::generic::count_elements;
use std::arch::x86_64::*;

/// For elements of more than 16 columns: the number of tiles of which 16 columns are processed before the next 16,
/// which is the number of lines of a stream that are written consecutively.
const TILES_PER_RUN: usize = 8;

/// Shuffles whole elements.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes; with `DELTA`,
/// [`super::can_fuse_bytedelta`] is true for them.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn shuffle<const DELTA: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize || !has_tiles(typesize) {
        // SAFETY: this function has AVX2; the rest by the caller.
        return unsafe { avx2::shuffle::<DELTA>(typesize, src, dest) };
    }
    // SAFETY: (all) this function has the AVX-512 level; the lengths are equal by the caller, and hold a tile.
    unsafe {
        match typesize {
            2 => forward::<DELTA>(PackedTiles::<1, 2>, 2, src, dest),
            3 => forward::<DELTA>(PackedTiles::<3, 1>, 3, src, dest),
            4 => forward::<DELTA>(PackedTiles::<1, 4>, 4, src, dest),
            5 => forward::<DELTA>(PackedTiles::<5, 1>, 5, src, dest),
            6 => forward::<DELTA>(PackedTiles::<3, 2>, 6, src, dest),
            7 => forward::<DELTA>(SlottedTiles::<8>::new(7), 7, src, dest),
            8 => forward::<DELTA>(PackedTiles::<1, 8>, 8, src, dest),
            10 => forward::<DELTA>(PackedTiles::<5, 2>, 10, src, dest),
            12 => forward::<DELTA>(PackedTiles::<3, 4>, 12, src, dest),
            20 if !DELTA => forward::<DELTA>(PackedTiles::<5, 4>, 20, src, dest),
            24 if !DELTA => forward::<DELTA>(PackedTiles::<3, 8>, 24, src, dest),
            ..16 => forward::<DELTA>(SlottedTiles::<16>::new(typesize), typesize, src, dest),
            16 => forward::<DELTA>(PackedTiles::<1, 16>, 16, src, dest),
            _ => forward::<DELTA>(WideTiles::new(typesize), typesize, src, dest),
        }
    }
}

/// Undoes [`shuffle`].
///
/// # Safety
/// As for [`shuffle`].
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn unshuffle<const DELTA: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize || !has_tiles(typesize) {
        // SAFETY: this function has AVX2; the rest by the caller.
        return unsafe { avx2::unshuffle::<DELTA>(typesize, src, dest) };
    }
    let elements = count_elements(src.len(), typesize);
    let streams = |j: usize| src.as_ptr().wrapping_add(j * elements);
    // SAFETY: (all) this function has the AVX-512 level; by the caller each stream is as long as there are elements, at
    // least a tile.
    unsafe {
        match typesize {
            2 => backward::<_, DELTA>(PackedTiles::<1, 2>, 2, streams, dest),
            3 => backward::<_, DELTA>(PackedTiles::<3, 1>, 3, streams, dest),
            4 => backward::<_, DELTA>(PackedTiles::<1, 4>, 4, streams, dest),
            5 => backward::<_, DELTA>(PackedTiles::<5, 1>, 5, streams, dest),
            6 => backward::<_, DELTA>(PackedTiles::<3, 2>, 6, streams, dest),
            7 => backward::<_, DELTA>(SlottedTiles::<8>::new(7), 7, streams, dest),
            8 => backward::<_, DELTA>(PackedTiles::<1, 8>, 8, streams, dest),
            10 => backward::<_, DELTA>(PackedTiles::<5, 2>, 10, streams, dest),
            12 => backward::<_, DELTA>(PackedTiles::<3, 4>, 12, streams, dest),
            20 if !DELTA => backward::<_, DELTA>(PackedTiles::<5, 4>, 20, streams, dest),
            24 if !DELTA => backward::<_, DELTA>(PackedTiles::<3, 8>, 24, streams, dest),
            ..16 => backward::<_, DELTA>(SlottedTiles::<16>::new(typesize), typesize, streams, dest),
            16 => backward::<_, DELTA>(PackedTiles::<1, 16>, 16, streams, dest),
            _ => backward::<_, DELTA>(WideTiles::new(typesize), typesize, streams, dest),
        }
    }
}

/// Unshuffles like [`unshuffle`], with streams at any addresses, for the typesizes for which
/// [`super::can_unshuffle_planes`] is true.
///
/// # Safety
/// `TILE` elements at least; `dest.len() / typesize` bytes can be read from each of the pointers.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn unshuffle_planes(typesize: usize, planes: &[*const u8; 8], dest: &mut [u8]) {
    let streams = |j: usize| planes[j];
    // SAFETY: (all) this function has the AVX-512 level; the rest by the caller.
    unsafe {
        match typesize {
            2 => backward::<_, false>(PackedTiles::<1, 2>, 2, streams, dest),
            4 => backward::<_, false>(PackedTiles::<1, 4>, 4, streams, dest),
            _ => backward::<_, false>(PackedTiles::<1, 8>, 8, streams, dest),
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward<const DELTA: bool>(tiles: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    for group in covering_start_groups(src.len() / typesize, TILE, TILES_PER_RUN) {
        for column in covering_starts(typesize, tiles.width()) {
            for first in group.clone() {
                // SAFETY: the level by the caller; the tile is in both, the columns are in an element.
                unsafe { forward_tile::<DELTA>(tiles, typesize, first, column, src, dest) };
            }
        }
    }
}

/// Shuffles the columns from `column` on of the tile of the elements from `first` on.
///
/// # Safety
/// The machine has the AVX-512 level; the lengths are equal, and the tile and the columns exist.
#[inline(always)]
unsafe fn forward_tile<const DELTA: bool>(
    tiles: impl Tiles,
    typesize: usize,
    first: usize,
    column: usize,
    src: &[u8],
    dest: &mut [u8],
) {
    let elements = src.len() / typesize;
    // SAFETY: by the contract the machine has the AVX-512 level. Elements `first..first + TILE` are in `src`, bytes
    // `column..column + width` are in an element, and each stream in `dest` is `elements` long.
    unsafe {
        let mut columns = tiles.gather::<false>(src.as_ptr().add(first * typesize + column));
        if DELTA {
            // The 16 bytes are in `src`, since a tile of elements of at least 2 bytes comes behind the first.
            let before = match first {
                0 => _mm_setzero_si128(),
                _ => _mm_loadu_si128(src.as_ptr().add((first - 1) * typesize + column).cast()),
            };
            delta::differences(&mut columns.vectors_mut()[..tiles.width()], before);
        }
        for (j, &vector) in columns.vectors().iter().enumerate() {
            if j < tiles.width() {
                let at = (column + j) * elements + first;
                prefetch_dest(dest, at + 2 * TILE);
                _mm512_storeu_si512(dest.as_mut_ptr().add(at).cast(), vector);
            }
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; `dest` holds at least a tile, and each of the `streams` has one byte per element
/// of `dest`.
#[inline(always)]
unsafe fn backward<T: Tiles, const DELTA: bool>(
    tiles: T,
    typesize: usize,
    streams: impl Fn(usize) -> *const u8,
    dest: &mut [u8],
) {
    let elements = dest.len() / typesize;
    // The sums of the streams so far. Elements that are wider than a tile are not summed.
    // SAFETY: the level by the caller.
    let mut sums = unsafe { T::Columns::zero() };
    for first in covering_starts(elements, TILE) {
        for column in covering_starts(typesize, tiles.width()) {
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                let mut columns = T::Columns::zero();
                for (j, vector) in columns.vectors_mut().iter_mut().enumerate() {
                    if j < tiles.width() {
                        *vector = _mm512_loadu_si512(streams(column + j).add(first).cast());
                    }
                }
                if DELTA {
                    if !first.is_multiple_of(TILE) {
                        // The last tile overlaps the one before.
                        let before = dest.as_ptr().add((first - 1) * typesize);
                        for (j, sum) in sums.vectors_mut().iter_mut().enumerate().take(tiles.width()) {
                            *sum = _mm512_set1_epi8(before.add(j).read() as i8);
                        }
                    }
                    let pairs = sums.vectors_mut().iter_mut().zip(columns.vectors_mut());
                    for (sum, column) in pairs.take(tiles.width()) {
                        *sum = delta::sums(*column, *sum);
                        *column = *sum;
                    }
                }
                tiles.scatter(columns, dest.as_mut_ptr().add(first * typesize + column));
            }
        }
    }
}
