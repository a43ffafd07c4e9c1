//! The byte shuffle with AVX2: columns of 32 elements are stored directly to their streams.

use super::super::columns::avx2::{MAX_WIDTH, TILE, TileLayout, exchange_parts};
use super::super::columns::{covering_start_groups, covering_starts};
use super::generic::{self, count_elements};
use super::plane_sources::{PlaneSources, RunVectors};
use super::planes::SeparatePlane;
use std::arch::x86_64::*;

/// For elements of more than 16 columns: the number of tiles of which 16 columns are processed before the next 16.
const TILES_PER_RUN: usize = 16;

/// The number of elements of a tile that holds 32 bytes of each element.
const SMALL_TILE: usize = 16;

/// Shuffles whole elements, or unshuffles them if not `FORWARD`.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn run<const FORWARD: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize {
        if src.len() >= SMALL_TILE * typesize && typesize >= 2 * MAX_WIDTH {
            // SAFETY: (all) this function has AVX2, and there are as many elements and as wide ones.
            unsafe {
                return if FORWARD {
                    forward_small_tile(typesize, src, dest)
                } else {
                    backward_small_tile(typesize, src, dest)
                };
            }
        }
        return if FORWARD {
            generic::shuffle(typesize, src, dest)
        } else {
            generic::unshuffle(typesize, src, dest)
        };
    }
    // SAFETY: (all) this function has AVX2; the lengths are equal by the caller, and hold the tiles by the check here.
    unsafe {
        match typesize {
            2 => run_tiles::<FORWARD, 2>(2, src, dest),
            4 => run_tiles::<FORWARD, 4>(4, src, dest),
            3 => run_tiles::<FORWARD, 4>(3, src, dest),
            8 => run_tiles::<FORWARD, 8>(8, src, dest),
            5..=7 => run_tiles::<FORWARD, 8>(typesize, src, dest),
            16 => run_tiles::<FORWARD, 16>(16, src, dest),
            _ => run_tiles::<FORWARD, 16>(typesize, src, dest),
        }
    }
}

/// Unshuffles elements of 2, 4 or 8 bytes from one plane for each byte.
///
/// # Safety
/// `dest` holds at least `TILE` elements, and each of the planes is a run or has one byte for each of them.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn unshuffle_planes(planes: &[SeparatePlane<'_>], dest: &mut [u8]) {
    let mut runs = RunVectors::new();
    let sources = PlaneSources::new(planes, &mut runs);
    // SAFETY: (all) this function has AVX2; the rest by the caller.
    unsafe {
        match planes.len() {
            2 => backward::<2>(2, |j, first| sources.at(j, first), dest),
            4 => backward::<4>(4, |j, first| sources.at(j, first), dest),
            _ => backward::<8>(8, |j, first| sources.at(j, first), dest),
        }
    }
}

/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn run_tiles<const FORWARD: bool, const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    // SAFETY: the caller's promises.
    unsafe {
        if FORWARD {
            forward::<P>(typesize, src, dest);
        } else {
            let elements = count_elements(src.len(), typesize);
            backward::<P>(typesize, |j, first| src.as_ptr().wrapping_add(j * elements + first), dest);
        }
    }
}

/// All columns of a tile.
pub(super) const ALL: usize = usize::MAX;

/// Returns whether contiguous streams of `elements` bytes, of elements of 8 or 16 bytes, map to one or two sets of the L1
/// cache, which hold eight lines each: streams that are a multiple of 4096 apart, as in blocks whose length is a power of
/// two, share a set in all x86 processors. If one line of each stream is written in turn, the lines evict each other before
/// they are complete. So several lines of four streams are written before the next four, and the elements are read again for
/// each four (`cargo bench --bench filter_kernels -- name=shuffle`).
pub(super) fn has_cache_set_conflicts(typesize: usize, elements: usize) -> bool {
    const SET_STRIDE: usize = 4096;
    const LINE: usize = 64;
    matches!(typesize, 8 | 16) && (elements + LINE) % (8 * SET_STRIDE / typesize) < 2 * LINE
}

/// # Safety
/// The machine has AVX2; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    let has_conflicts = has_cache_set_conflicts(typesize, elements);
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { TileLayout::<P>::new(typesize) };
    for group in covering_start_groups(elements, TILE, TILES_PER_RUN) {
        for column in covering_starts(typesize, typesize.min(MAX_WIDTH)) {
            let place = (typesize, column);
            // SAFETY: (all) AVX2 by the caller; the tiles are in both, the columns are in an element.
            unsafe {
                if !has_conflicts {
                    forward_tiles::<P, ALL, 0>(&layout, group.clone(), place, src, dest);
                    continue;
                }
                forward_tiles::<P, 4, 0>(&layout, group.clone(), place, src, dest);
                forward_tiles::<P, 4, 1>(&layout, group.clone(), place, src, dest);
                if typesize > 8 {
                    forward_tiles::<P, 4, 2>(&layout, group.clone(), place, src, dest);
                    forward_tiles::<P, 4, 3>(&layout, group.clone(), place, src, dest);
                }
            }
        }
    }
}

/// Shuffles the columns from `column` on of the tiles that begin at the elements `firsts`: the `PART`th `COUNT` of
/// them. The compiler removes the operations of the others.
///
/// # Safety
/// The machine has AVX2; the lengths are equal, and the tiles and the columns exist.
#[inline(always)]
unsafe fn forward_tiles<const P: usize, const COUNT: usize, const PART: usize>(
    layout: &TileLayout<P>,
    firsts: impl Iterator<Item = usize>,
    (typesize, column): (usize, usize),
    src: &[u8],
    dest: &mut [u8],
) {
    let elements = src.len() / typesize;
    for first in firsts {
        let at = first * typesize + column;
        // SAFETY: by the contract the machine has AVX2. Elements `first..first + TILE` are in `src`, bytes
        // `column..column + width` are in an element, and each stream in `dest` is `elements` long.
        unsafe {
            let columns = layout.gather(src.as_ptr().add(at), src.len() - at);
            for (j, &vector) in columns.iter().enumerate() {
                if j < layout.width() && j / COUNT == PART {
                    let at = (column + j) * elements + first;
                    _mm256_storeu_si256(dest.as_mut_ptr().add(at).cast(), vector);
                }
            }
        }
    }
}

/// # Safety
/// The machine has AVX2; `dest` holds at least a tile. `place` returns, for the number of a stream and of an element, the
/// address of the bytes of that stream for the tile that begins with the element.
#[inline(always)]
unsafe fn backward<const P: usize>(
    typesize: usize,
    place: impl Fn(usize, usize) -> *const u8,
    dest: &mut [u8],
) {
    let elements = count_elements(dest.len(), typesize);
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { TileLayout::<P>::new(typesize) };
    for first in covering_starts(elements, TILE) {
        for column in covering_starts(typesize, typesize.min(MAX_WIDTH)) {
            let at = first * typesize + column;
            // SAFETY: as in `forward`, with source and destination exchanged.
            unsafe {
                let mut columns = [_mm256_setzero_si256(); P];
                for (j, vector) in columns.iter_mut().enumerate() {
                    if j < layout.width() {
                        *vector = _mm256_loadu_si256(place(column + j, first).cast());
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
