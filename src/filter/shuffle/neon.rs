//! The byte shuffle with NEON: columns of 16 elements are stored directly to their streams.

use super::super::columns::covering_starts;
use super::super::columns::neon::{NeonLayout, TILE, start_ranges, with_layout};
use super::generic::{self, count_elements};
use super::plane_sources::{PlaneSources, RunVectors};
use super::planes::SeparatePlane;
use std::arch::aarch64::*;

/// For elements of more than 16 columns: the number of tiles of which 16 columns are processed before the next 16, so that
/// whole lines of 64 to 256 bytes of a stream are written consecutively.
const TILES_PER_RUN: usize = 16;

/// Shuffles whole elements, or unshuffles them if not `FORWARD`.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes.
#[target_feature(enable = "neon")]
pub(super) unsafe fn run<const FORWARD: bool>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() < TILE * typesize {
        return if FORWARD {
            generic::shuffle(typesize, src, dest)
        } else {
            generic::unshuffle(typesize, src, dest)
        };
    }
    // SAFETY: this function has NEON; the lengths are equal by the caller, and hold a tile by the check here.
    unsafe { with_layout!(typesize, run_tiles::<FORWARD>(src, dest)) }
}

/// Unshuffles elements of 2, 4 or 8 bytes from one plane for each byte.
///
/// # Safety
/// `dest` holds at least `TILE` elements, and each of the planes is a run or has one byte for each of them.
#[target_feature(enable = "neon")]
pub(super) unsafe fn unshuffle_planes(planes: &[SeparatePlane<'_>], dest: &mut [u8]) {
    let mut runs = RunVectors::new();
    let sources = PlaneSources::new(planes, &mut runs);
    let place = |j, first| sources.at(j, first);
    // SAFETY: (all) this function has NEON; the rest by the caller.
    unsafe {
        match planes.len() {
            2 => backward(NeonLayout::<2>::new(2, 2), place, dest),
            4 => backward(NeonLayout::<4>::new(4, 4), place, dest),
            _ => backward(NeonLayout::<8>::new(8, 8), place, dest),
        }
    }
}

/// # Safety
/// The machine has NEON; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn run_tiles<const FORWARD: bool, const P: usize>(layout: NeonLayout<P>, src: &[u8], dest: &mut [u8]) {
    // SAFETY: (all) by the caller.
    unsafe {
        if FORWARD {
            forward(layout, src, dest);
        } else {
            let elements = count_elements(src.len(), layout.stride());
            backward(layout, |j, first| src.as_ptr().wrapping_add(j * elements + first), dest);
        }
    }
}

/// # Safety
/// The machine has NEON; the lengths are equal and hold at least a tile.
#[inline(always)]
unsafe fn forward<const P: usize>(layout: NeonLayout<P>, src: &[u8], dest: &mut [u8]) {
    let elements = count_elements(src.len(), layout.stride());
    // Elements that are not wider than a tile need no groups.
    let group = if layout.width() == layout.stride() { elements } else { TILES_PER_RUN * TILE };
    for start in (0..elements).step_by(group) {
        let group = start.min(elements - TILE)..elements.min(start + group);
        for column in covering_starts(layout.stride(), layout.width()) {
            for first in start_ranges(group.clone()) {
                for first in first {
                    let at = first * layout.stride() + column;
                    // SAFETY: NEON by the caller; elements `first..first + TILE` are in `src`, bytes `column..column + width` are
                    // in an element, and each stream in `dest` is `elements` long.
                    unsafe {
                        let columns = layout.gather(src.as_ptr().add(at), src.len() - at);
                        for (j, &vector) in columns.iter().enumerate() {
                            if j < layout.width() {
                                vst1q_u8(dest.as_mut_ptr().add((column + j) * elements + first), vector);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// # Safety
/// The machine has NEON; `dest` holds at least a tile. `place` returns, for the number of a stream and of an element, the
/// address of the bytes of that stream for the tile that begins with the element.
#[inline(always)]
unsafe fn backward<const P: usize>(
    layout: NeonLayout<P>,
    place: impl Fn(usize, usize) -> *const u8,
    dest: &mut [u8],
) {
    let elements = count_elements(dest.len(), layout.stride());
    for first in start_ranges(0..elements) {
        for first in first {
            for column in covering_starts(layout.stride(), layout.width()) {
                let at = first * layout.stride() + column;
                // SAFETY: as in `forward`, with source and destination exchanged.
                unsafe {
                    let mut columns = [vdupq_n_u8(0); P];
                    for (j, vector) in columns.iter_mut().enumerate() {
                        if j < layout.width() {
                            *vector = vld1q_u8(place(column + j, first));
                        }
                    }
                    layout.scatter(columns, dest.as_mut_ptr().add(at), dest.len() - at);
                }
            }
        }
    }
}
