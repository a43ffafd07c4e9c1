//! The byte shuffle with AVX-512: columns of 64 elements, a whole cache line, are stored directly to their streams.

use super::super::columns::avx512::{Columns, PackedTiles, TILE, Tiles, has_tiles, with_tiles};
use super::super::columns::{covering_start_groups, covering_starts};
use super::super::cpu::{MIN_PREFETCHED_LEN, prefetch_output};
use super::avx2::{self, ALL, has_cache_set_conflicts};
use super::generic::count_elements;
use super::plane_sources::{PlaneSources, RunVectors};
use super::planes::SeparatePlane;
use std::arch::x86_64::*;

/// For elements of more than 16 columns: the number of tiles of which 16 columns are processed before the next 16,
/// which is the number of lines of a stream that are written consecutively.
const TILES_PER_RUN: usize = 8;

/// Shuffles whole elements, or unshuffles them if not `FORWARD`.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn run<const FORWARD: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize || !has_tiles(typesize) {
        // SAFETY: this function has AVX2; the rest by the caller.
        return unsafe { avx2::run::<FORWARD>(typesize, src, dest) };
    }
    // SAFETY: (all) this function has the AVX-512 level; the lengths are equal by the caller, and hold a tile.
    unsafe {
        if FORWARD {
            with_tiles!(typesize, forward(src, dest));
        } else {
            with_tiles!(typesize, unshuffle_tiles(src, dest));
        }
    }
}

/// Unshuffles elements of 2, 4 or 8 bytes from one plane for each byte.
///
/// # Safety
/// `dest` holds at least `TILE` elements, and each of the planes is a run or has one byte for each of them.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn unshuffle_planes(planes: &[SeparatePlane<'_>], dest: &mut [u8]) {
    let mut runs = RunVectors::new();
    let sources = PlaneSources::new(planes, &mut runs);
    // SAFETY: (all) this function has the AVX-512 level; the rest by the caller.
    unsafe {
        match planes.len() {
            2 => backward(PackedTiles::<1, 2, 2>, 2, |j, first| sources.at(j, first), dest),
            4 => backward(PackedTiles::<1, 4, 4>, 4, |j, first| sources.at(j, first), dest),
            _ => backward(PackedTiles::<1, 8, 8>, 8, |j, first| sources.at(j, first), dest),
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn unshuffle_tiles(tiles: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = count_elements(src.len(), typesize);
    // SAFETY: the level and the lengths by the caller.
    unsafe { backward(tiles, typesize, |j, first| src.as_ptr().wrapping_add(j * elements + first), dest) }
}

/// # Safety
/// The machine has the AVX-512 level; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward(tiles: impl Tiles, typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let has_conflicts = has_cache_set_conflicts(typesize, elements);
    for group in covering_start_groups(elements, TILE, TILES_PER_RUN) {
        for column in covering_starts(typesize, tiles.width()) {
            let place = (typesize, column);
            // SAFETY: (all) the level by the caller; the tiles are in both, the columns are in an element.
            unsafe {
                if !has_conflicts {
                    forward_tiles::<ALL, 0>(tiles, group.clone(), place, src, dest);
                    continue;
                }
                forward_tiles::<4, 0>(tiles, group.clone(), place, src, dest);
                forward_tiles::<4, 1>(tiles, group.clone(), place, src, dest);
                if typesize > 8 {
                    forward_tiles::<4, 2>(tiles, group.clone(), place, src, dest);
                    forward_tiles::<4, 3>(tiles, group.clone(), place, src, dest);
                }
            }
        }
    }
}

/// Shuffles the columns from `column` on of the tiles that begin at the elements `firsts`: the `PART`th `COUNT` of
/// them. Those are every second of 8, or every fourth of 16, which share most operations of the transpose; the compiler
/// removes the others.
///
/// # Safety
/// The machine has the AVX-512 level; the lengths are equal, and the tiles and the columns exist.
#[inline(always)]
unsafe fn forward_tiles<const COUNT: usize, const PART: usize>(
    tiles: impl Tiles,
    firsts: impl Iterator<Item = usize>,
    (typesize, column): (usize, usize),
    src: &[u8],
    dest: &mut [u8],
) {
    let elements = src.len() / typesize;
    for first in firsts {
        // SAFETY: by the contract the machine has the AVX-512 level. Elements `first..first + TILE` are in `src`, bytes
        // `column..column + width` are in an element, and each stream in `dest` is `elements` long.
        unsafe {
            let columns = tiles.gather::<false>(src.as_ptr().add(first * typesize + column));
            for (j, &vector) in columns.as_ref().iter().enumerate() {
                if j < tiles.width() && j % tiles.width().div_ceil(COUNT) == PART {
                    let at = (column + j) * elements + first;
                    _mm512_storeu_si512(dest.as_mut_ptr().add(at).cast(), vector);
                }
            }
        }
    }
}

/// # Safety
/// The machine has the AVX-512 level; `dest` holds at least a tile. `place` returns, for the number of a stream and of an
/// element, the address of the bytes of that stream for the tile that begins with the element.
#[inline(always)]
unsafe fn backward<T: Tiles>(
    tiles: T,
    typesize: usize,
    place: impl Fn(usize, usize) -> *const u8,
    dest: &mut [u8],
) {
    let elements = count_elements(dest.len(), typesize);
    let prefetches = dest.len() >= MIN_PREFETCHED_LEN && tiles.width() == typesize;
    for first in covering_starts(elements, TILE) {
        if prefetches {
            prefetch_output(dest.as_mut_ptr().wrapping_add(first * typesize), TILE * typesize);
        }
        for column in covering_starts(typesize, tiles.width()) {
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                let mut columns = T::Columns::zero();
                for (j, vector) in columns.as_mut().iter_mut().enumerate() {
                    if j < tiles.width() {
                        *vector = _mm512_loadu_si512(place(column + j, first).cast());
                    }
                }
                tiles.scatter(columns, dest.as_mut_ptr().add(first * typesize + column));
            }
        }
    }
}
