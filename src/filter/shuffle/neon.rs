//! The byte shuffle with NEON for elements of 2, 3, 4, 8 and 16 bytes; its structured loads and stores deinterleave
//! and interleave elements. Other element sizes use the portable code.

use super::super::columns::covering_starts;
use super::generic;
use std::arch::aarch64::*;

/// The number of elements of a tile, and of bytes of a vector.
const TILE: usize = 16;

/// Shuffles whole elements.
///
/// # Safety
/// `src.len() == dest.len()`, a multiple of `typesize`, at least 2 elements of 2 bytes.
#[target_feature(enable = "neon")]
pub(super) unsafe fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    if elements < TILE || !matches!(typesize, 2 | 3 | 4 | 8 | 16) {
        return generic::shuffle(typesize, src, dest);
    }
    for first in covering_starts(elements, TILE) {
        // SAFETY: elements `first..first + TILE` are in `src`, and each stream in `dest` is `elements` long.
        unsafe {
            let at = src.as_ptr().add(first * typesize);
            let streams = dest.as_mut_ptr().add(first);
            match typesize {
                2 => {
                    let uint8x16x2_t(c0, c1) = vld2q_u8(at);
                    store_columns(&[c0, c1], streams, elements);
                }
                3 => {
                    let uint8x16x3_t(c0, c1, c2) = vld3q_u8(at);
                    store_columns(&[c0, c1, c2], streams, elements);
                }
                4 => {
                    let uint8x16x4_t(c0, c1, c2, c3) = vld4q_u8(at);
                    store_columns(&[c0, c1, c2, c3], streams, elements);
                }
                8 => store_columns(&split_8(at), streams, elements),
                _ => store_columns(&split_16(at), streams, elements),
            }
        }
    }
}

/// Undoes [`shuffle`].
///
/// # Safety
/// As for [`shuffle`].
#[target_feature(enable = "neon")]
pub(super) unsafe fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    if elements < TILE || !matches!(typesize, 2 | 3 | 4 | 8 | 16) {
        return generic::unshuffle(typesize, src, dest);
    }
    for first in covering_starts(elements, TILE) {
        // SAFETY: as in `shuffle`, with source and destination exchanged.
        unsafe {
            let at = dest.as_mut_ptr().add(first * typesize);
            let streams = src.as_ptr().add(first);
            match typesize {
                2 => {
                    let [c0, c1] = load_columns(streams, elements);
                    vst2q_u8(at, uint8x16x2_t(c0, c1));
                }
                3 => {
                    let [c0, c1, c2] = load_columns(streams, elements);
                    vst3q_u8(at, uint8x16x3_t(c0, c1, c2));
                }
                4 => {
                    let [c0, c1, c2, c3] = load_columns(streams, elements);
                    vst4q_u8(at, uint8x16x4_t(c0, c1, c2, c3));
                }
                8 => join_8(load_columns(streams, elements), at),
                _ => join_16(load_columns(streams, elements), at),
            }
        }
    }
}

/// # Safety
/// A vector can be written at every multiple of `elements` from `streams` on, for each column.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store_columns(columns: &[uint8x16_t], streams: *mut u8, elements: usize) {
    for (j, &column) in columns.iter().enumerate() {
        // SAFETY: by the contract a vector can be written there.
        unsafe { vst1q_u8(streams.add(j * elements), column) };
    }
}

/// # Safety
/// A vector can be read at every multiple of `elements` from `streams` on, for each column.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load_columns<const T: usize>(streams: *const u8, elements: usize) -> [uint8x16_t; T] {
    let mut columns = [vdupq_n_u8(0); T];
    for (j, column) in columns.iter_mut().enumerate() {
        // SAFETY: by the contract a vector can be read there.
        *column = unsafe { vld1q_u8(streams.add(j * elements)) };
    }
    columns
}

/// Returns the columns of 16 elements of 8 bytes: the loads separate pairs of bytes, and two loads are combined to
/// separate single bytes.
///
/// # Safety
/// The elements can be read at `src`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn split_8(src: *const u8) -> [uint8x16_t; 8] {
    // SAFETY: by the contract the 16 elements can be read; each load is 8 elements.
    let (a, b) = unsafe { (vld4q_u16(src.cast()), vld4q_u16(src.add(64).cast())) };
    let mut columns = [vdupq_n_u8(0); 8];
    for (k, (a, b)) in [(a.0, b.0), (a.1, b.1), (a.2, b.2), (a.3, b.3)].into_iter().enumerate() {
        let (a, b) = (vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
        columns[2 * k] = vuzp1q_u8(a, b);
        columns[2 * k + 1] = vuzp2q_u8(a, b);
    }
    columns
}

/// The inverse of [`split_8`].
///
/// # Safety
/// The elements can be written at `dest`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn join_8(c: [uint8x16_t; 8], dest: *mut u8) {
    let a = uint16x8x4_t(
        vreinterpretq_u16_u8(vzip1q_u8(c[0], c[1])),
        vreinterpretq_u16_u8(vzip1q_u8(c[2], c[3])),
        vreinterpretq_u16_u8(vzip1q_u8(c[4], c[5])),
        vreinterpretq_u16_u8(vzip1q_u8(c[6], c[7])),
    );
    let b = uint16x8x4_t(
        vreinterpretq_u16_u8(vzip2q_u8(c[0], c[1])),
        vreinterpretq_u16_u8(vzip2q_u8(c[2], c[3])),
        vreinterpretq_u16_u8(vzip2q_u8(c[4], c[5])),
        vreinterpretq_u16_u8(vzip2q_u8(c[6], c[7])),
    );
    // SAFETY: by the contract the 16 elements can be written; each store is 8 elements.
    unsafe {
        vst4q_u16(dest.cast(), a);
        vst4q_u16(dest.add(64).cast(), b);
    }
}

/// Returns the columns of 16 elements of 16 bytes: the loads separate groups of 4 bytes, and four loads are combined
/// to separate single bytes.
///
/// # Safety
/// The elements can be read at `src`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn split_16(src: *const u8) -> [uint8x16_t; 16] {
    // SAFETY: by the contract the 16 elements can be read; each load is 4 elements.
    let (p, q, r, s) = unsafe {
        (
            vld4q_u32(src.cast()),
            vld4q_u32(src.add(64).cast()),
            vld4q_u32(src.add(128).cast()),
            vld4q_u32(src.add(192).cast()),
        )
    };
    let groups = [(p.0, q.0, r.0, s.0), (p.1, q.1, r.1, s.1), (p.2, q.2, r.2, s.2), (p.3, q.3, r.3, s.3)];
    let mut columns = [vdupq_n_u8(0); 16];
    for (k, (p, q, r, s)) in groups.into_iter().enumerate() {
        let (p, q) = (vreinterpretq_u8_u32(p), vreinterpretq_u8_u32(q));
        let (r, s) = (vreinterpretq_u8_u32(r), vreinterpretq_u8_u32(s));
        let (even_low, odd_low) = (vuzp1q_u8(p, q), vuzp2q_u8(p, q));
        let (even_high, odd_high) = (vuzp1q_u8(r, s), vuzp2q_u8(r, s));
        columns[4 * k] = vuzp1q_u8(even_low, even_high);
        columns[4 * k + 1] = vuzp1q_u8(odd_low, odd_high);
        columns[4 * k + 2] = vuzp2q_u8(even_low, even_high);
        columns[4 * k + 3] = vuzp2q_u8(odd_low, odd_high);
    }
    columns
}

/// The inverse of [`split_16`].
///
/// # Safety
/// The elements can be written at `dest`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn join_16(c: [uint8x16_t; 16], dest: *mut u8) {
    let mut groups = [[vdupq_n_u32(0); 4]; 4];
    for (k, group) in groups.iter_mut().enumerate() {
        let (even_low, even_high) = (vzip1q_u8(c[4 * k], c[4 * k + 2]), vzip2q_u8(c[4 * k], c[4 * k + 2]));
        let (odd_low, odd_high) =
            (vzip1q_u8(c[4 * k + 1], c[4 * k + 3]), vzip2q_u8(c[4 * k + 1], c[4 * k + 3]));
        *group = [
            vreinterpretq_u32_u8(vzip1q_u8(even_low, odd_low)),
            vreinterpretq_u32_u8(vzip2q_u8(even_low, odd_low)),
            vreinterpretq_u32_u8(vzip1q_u8(even_high, odd_high)),
            vreinterpretq_u32_u8(vzip2q_u8(even_high, odd_high)),
        ];
    }
    let [first, second, third, fourth] = groups;
    for (part, ((a, b), (c, d))) in
        first.into_iter().zip(second).zip(third.into_iter().zip(fourth)).enumerate()
    {
        let elements = uint32x4x4_t(a, b, c, d);
        // SAFETY: by the contract the 16 elements can be written; each store is 4 elements.
        unsafe { vst4q_u32(dest.add(64 * part).cast(), elements) };
    }
}
