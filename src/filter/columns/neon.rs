//! Tiles of 16 elements in 128-bit vectors.

use std::arch::aarch64::*;
use std::iter::StepBy;
use std::ops::Range;

/// The number of elements of a tile, and of bytes of a vector.
pub(in crate::filter) const TILE: usize = 16;

/// The width in bytes of the widest element (or slice of an element) of a tile.
pub(in crate::filter) const MAX_WIDTH: usize = 16;

/// The length in bytes of a tile and of the bytes behind it that a vector extends to.
const PADDED_LEN: usize = TILE * MAX_WIDTH + TILE;

/// The layout of the elements of a tile in memory.
///
/// `P`, the number of vectors, is 1 to 4, 8 or 16, and not less than the number of columns.
#[derive(Clone, Copy)]
pub(in crate::filter) struct NeonLayout<const P: usize> {
    /// The distance of two elements in bytes.
    stride: usize,
    /// The number of bytes of each element that belong to the tile: its number of columns.
    width: usize,
    /// For 5 to 7 columns: the places of two elements in 8 bytes each, and the inverse.
    split: uint8x16_t,
    join: uint8x16_t,
}

/// Calls the function `$run` with the layout of elements of `$typesize` bytes. Constants in it remove the code of other layouts.
macro_rules! with_layout {
    ($typesize:expr, $run:ident::<$forward:ident>($($argument:expr),*)) => {{
        use $crate::filter::columns::neon::{MAX_WIDTH, NeonLayout};
        match $typesize {
            1 => $run::<$forward, 1>(NeonLayout::new(1, 1), $($argument),*),
            2 => $run::<$forward, 2>(NeonLayout::new(2, 2), $($argument),*),
            3 => $run::<$forward, 3>(NeonLayout::new(3, 3), $($argument),*),
            4 => $run::<$forward, 4>(NeonLayout::new(4, 4), $($argument),*),
            width @ 5..=7 => $run::<$forward, 8>(NeonLayout::new(width, width), $($argument),*),
            8 => $run::<$forward, 8>(NeonLayout::new(8, 8), $($argument),*),
            width @ 9..=15 => $run::<$forward, 16>(NeonLayout::new(width, width), $($argument),*),
            16 => $run::<$forward, 16>(NeonLayout::new(16, 16), $($argument),*),
            stride => $run::<$forward, 16>(NeonLayout::new(stride, MAX_WIDTH), $($argument),*),
        }
    }};
}
pub(in crate::filter) use with_layout;

/// Returns the starts of tiles that cover `elements`, as [`covering_starts`](super::covering_starts) does: those that are a
/// multiple of a tile apart, and the last one. A loop over each needs fewer instructions than one over all.
#[inline(always)]
pub(in crate::filter) fn start_ranges(elements: Range<usize>) -> [StepBy<Range<usize>>; 2] {
    let last = elements.end - TILE;
    [elements.start..last, last..elements.end].map(|starts| starts.step_by(TILE))
}

impl<const P: usize> NeonLayout<P> {
    /// # Safety
    /// The machine has NEON.
    #[inline(always)]
    pub(in crate::filter) unsafe fn new(stride: usize, width: usize) -> Self {
        assert!(width <= P && width <= stride && (width == stride || width == TILE));
        let place = |from: usize, to: usize| {
            move |at: usize| if at % from < width { (at / from * to + at % from) as u8 } else { u8::MAX }
        };
        let (split, join): ([u8; 16], [u8; 16]) =
            (std::array::from_fn(place(8, width)), std::array::from_fn(place(width, 8)));
        // SAFETY: NEON by the caller; both arrays are as long as a vector.
        unsafe {
            NeonLayout { stride, width, split: vld1q_u8(split.as_ptr()), join: vld1q_u8(join.as_ptr()) }
        }
    }

    /// Returns the distance of two elements in bytes.
    #[inline(always)]
    pub(in crate::filter) fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the number of columns.
    #[inline(always)]
    pub(in crate::filter) fn width(&self) -> usize {
        self.width
    }

    /// Returns whether an access to `room` bytes from the tile on can include the bytes behind it that rows of vectors extend to.
    #[inline(always)]
    fn is_row_inside(&self, room: usize) -> bool {
        self.width == P || room >= TILE * self.stride + TILE
    }

    /// Returns the columns of the tile at `src`, from which on `room` bytes can be read. Columns from the width of the tile on are
    /// unspecified.
    ///
    /// # Safety
    /// The machine has NEON, the tile is inside the `room` bytes, and these can be read.
    #[inline(always)]
    pub(in crate::filter) unsafe fn gather(&self, src: *const u8, room: usize) -> [uint8x16_t; P] {
        // SAFETY: (all) NEON by the caller; by the contract the tile can be read.
        unsafe {
            let mut columns = [vdupq_n_u8(0); P];
            match P {
                1 => columns[0] = vld1q_u8(src),
                2 => {
                    let tile = vld2q_u8(src);
                    columns.copy_from_slice(&[tile.0, tile.1]);
                }
                3 => {
                    let tile = vld3q_u8(src);
                    columns.copy_from_slice(&[tile.0, tile.1, tile.2]);
                }
                4 => {
                    let tile = vld4q_u8(src);
                    columns.copy_from_slice(&[tile.0, tile.1, tile.2, tile.3]);
                }
                // Contiguous elements: the compiler combines loads and rounds to loads that separate items of 4 bytes.
                8 | 16 if self.stride == P => {
                    columns = split_rows(std::array::from_fn(|i| vld1q_u8(src.add(i * TILE))));
                }
                _ if self.is_row_inside(room) => columns = self.gather_rows(src),
                _ => {
                    let mut padded = [0; PADDED_LEN];
                    src.copy_to_nonoverlapping(padded.as_mut_ptr(), TILE * self.width);
                    columns = self.gather_rows(padded.as_ptr());
                }
            }
            columns
        }
    }

    /// Writes the tile of these columns at `dest`, from which on `room` bytes can be written. The 16 bytes behind the tile may be
    /// overwritten with garbage, so tiles are written in the order of their addresses. Where elements are wider than the tile,
    /// only the tile is written.
    ///
    /// # Safety
    /// The machine has NEON, the tile is inside the `room` bytes, and these can be written.
    #[inline(always)]
    pub(in crate::filter) unsafe fn scatter(&self, columns: [uint8x16_t; P], dest: *mut u8, room: usize) {
        let c = &columns[..];
        // SAFETY: (all) NEON by the caller; by the contract the tile can be written.
        unsafe {
            match P {
                1 => vst1q_u8(dest, c[0]),
                2 => vst2q_u8(dest, uint8x16x2_t(c[0], c[1])),
                3 => vst3q_u8(dest, uint8x16x3_t(c[0], c[1], c[2])),
                4 => vst4q_u8(dest, uint8x16x4_t(c[0], c[1], c[2], c[3])),
                8 if self.stride == 8 => join_8(c, dest),
                16 if self.stride == 16 => join_16(c, dest),
                _ if self.is_row_inside(room) => self.scatter_rows(columns, dest),
                _ => {
                    let mut padded = [0; PADDED_LEN];
                    self.scatter_rows(columns, padded.as_mut_ptr());
                    dest.copy_from_nonoverlapping(padded.as_ptr(), TILE * self.width);
                }
            }
        }
    }

    /// Returns the columns of a tile of `P` vectors, which are two elements of 5 to 7 bytes, or one element.
    ///
    /// # Safety
    /// The machine has NEON, and vectors can be read at the elements.
    #[inline(always)]
    unsafe fn gather_rows(&self, src: *const u8) -> [uint8x16_t; P] {
        let step = TILE / P * self.stride;
        // SAFETY: (all) NEON by the caller; by the contract the vectors can be read.
        unsafe {
            split_rows(std::array::from_fn(|i| {
                let row = vld1q_u8(src.add(i * step));
                if P == 8 { vqtbl1q_u8(row, self.split) } else { row }
            }))
        }
    }

    /// The inverse of [`gather_rows`](Self::gather_rows); writes the vectors in the order of their addresses.
    ///
    /// # Safety
    /// The machine has NEON, and vectors can be written at the elements.
    #[inline(always)]
    unsafe fn scatter_rows(&self, columns: [uint8x16_t; P], dest: *mut u8) {
        let step = TILE / P * self.stride;
        // SAFETY: (all) NEON by the caller; by the contract the vectors can be written.
        unsafe {
            for (i, row) in join_rows(columns).into_iter().enumerate() {
                let row = if P == 8 { vqtbl1q_u8(row, self.join) } else { row };
                vst1q_u8(dest.add(i * step), row);
            }
        }
    }
}

/// Returns in vector `j` every `P`th byte from `j` on of the `P` vectors `rows`.
///
/// The number of a byte consists of the number of its vector and its place in that. Every round moves the lowest bit of the number
/// to its top.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub(in crate::filter) unsafe fn split_rows<const P: usize>(mut rows: [uint8x16_t; P]) -> [uint8x16_t; P] {
    for _ in 0..P.ilog2() {
        let before = rows;
        for i in 0..P / 2 {
            let (a, b) = (before[2 * i], before[2 * i + 1]);
            // SAFETY: NEON by the caller.
            (rows[i], rows[i + P / 2]) = unsafe { (vuzp1q_u8(a, b), vuzp2q_u8(a, b)) };
        }
    }
    rows
}

/// The inverse of [`split_rows`].
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub(in crate::filter) unsafe fn join_rows<const P: usize>(mut rows: [uint8x16_t; P]) -> [uint8x16_t; P] {
    for _ in 0..P.ilog2() {
        let before = rows;
        for i in 0..P / 2 {
            let (a, b) = (before[i], before[i + P / 2]);
            // SAFETY: NEON by the caller.
            (rows[2 * i], rows[2 * i + 1]) = unsafe { (vzip1q_u8(a, b), vzip2q_u8(a, b)) };
        }
    }
    rows
}

/// Writes the columns of 16 elements of 8 bytes: the stores interleave pairs of bytes.
///
/// # Safety
/// The machine has NEON, and the elements can be written at `dest`.
#[inline(always)]
unsafe fn join_8(c: &[uint8x16_t], dest: *mut u8) {
    // SAFETY: (all) NEON by the caller; by the contract the 16 elements can be written; each store is 8 elements.
    unsafe {
        let low = |k: usize| vreinterpretq_u16_u8(vzip1q_u8(c[2 * k], c[2 * k + 1]));
        let high = |k: usize| vreinterpretq_u16_u8(vzip2q_u8(c[2 * k], c[2 * k + 1]));
        vst4q_u16(dest.cast(), uint16x8x4_t(low(0), low(1), low(2), low(3)));
        vst4q_u16(dest.add(64).cast(), uint16x8x4_t(high(0), high(1), high(2), high(3)));
    }
}

/// Writes the columns of 16 elements of 16 bytes: the stores interleave groups of 4 bytes.
///
/// # Safety
/// The machine has NEON, and the elements can be written at `dest`.
#[inline(always)]
unsafe fn join_16(c: &[uint8x16_t], dest: *mut u8) {
    // SAFETY: (all) NEON by the caller; by the contract the 16 elements can be written; each store is 4 elements.
    unsafe {
        let group = |k: usize| join_rows([c[4 * k], c[4 * k + 1], c[4 * k + 2], c[4 * k + 3]]);
        let groups = [group(0), group(1), group(2), group(3)];
        for part in 0..4 {
            let [a, b, c, d] = groups.map(|group| vreinterpretq_u32_u8(group[part]));
            vst4q_u32(dest.add(64 * part).cast(), uint32x4x4_t(a, b, c, d));
        }
    }
}
