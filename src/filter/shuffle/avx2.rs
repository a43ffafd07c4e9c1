//! The byte shuffle with AVX2: columns of 32 elements go straight to their streams.

use super::super::columns::avx2::{Layout, MAX_WIDTH, TILE};
use super::super::columns::pieces;
use super::generic;
use std::arch::x86_64::*;

/// Shuffles whole elements: `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes.
#[target_feature(enable = "avx2")]
pub(super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return generic::shuffle(typesize, src, dest);
    }
    // SAFETY: (all) this function has AVX2.
    unsafe {
        match typesize {
            2 => forward::<2>(2, src, dest),
            4 => forward::<4>(4, src, dest),
            3 => forward::<4>(3, src, dest),
            8 => forward::<8>(8, src, dest),
            5..=7 => forward::<8>(typesize, src, dest),
            16 => forward::<16>(16, src, dest),
            _ => forward::<16>(typesize, src, dest),
        }
    }
}

/// Undoes [`shuffle`], under the same conditions.
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if src.len() / typesize < TILE {
        return generic::unshuffle(typesize, src, dest);
    }
    // SAFETY: (all) this function has AVX2.
    unsafe {
        match typesize {
            2 => backward::<2>(2, src, dest),
            4 => backward::<4>(4, src, dest),
            3 => backward::<4>(3, src, dest),
            8 => backward::<8>(8, src, dest),
            5..=7 => backward::<8>(typesize, src, dest),
            16 => backward::<16>(16, src, dest),
            _ => backward::<16>(typesize, src, dest),
        }
    }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn forward<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { Layout::<P>::new(typesize) };
    for first in pieces(elements, TILE) {
        for column in pieces(typesize, typesize.min(MAX_WIDTH)) {
            // SAFETY: AVX2 by the caller.
            let columns = unsafe { layout.gather(src, first * typesize + column) };
            for (j, &vector) in columns.iter().enumerate() {
                if j < layout.width() {
                    let stream = &mut dest[(column + j) * elements + first..][..TILE];
                    // SAFETY: the stream's slice is TILE bytes long.
                    unsafe { _mm256_storeu_si256(stream.as_mut_ptr().cast(), vector) };
                }
            }
        }
    }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn backward<const P: usize>(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    // SAFETY: AVX2 by the caller.
    let layout = unsafe { Layout::<P>::new(typesize) };
    for first in pieces(elements, TILE) {
        for column in pieces(typesize, typesize.min(MAX_WIDTH)) {
            // SAFETY: AVX2 by the caller.
            let mut columns = unsafe { [_mm256_setzero_si256(); P] };
            for (j, vector) in columns.iter_mut().enumerate() {
                if j < layout.width() {
                    let stream = &src[(column + j) * elements + first..][..TILE];
                    // SAFETY: the stream's slice is TILE bytes long.
                    *vector = unsafe { _mm256_loadu_si256(stream.as_ptr().cast()) };
                }
            }
            // SAFETY: AVX2 by the caller.
            unsafe { layout.scatter(columns, dest, first * typesize + column) };
        }
    }
}
