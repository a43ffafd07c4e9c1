use super::tile::{Tiles, WIDE_TILE_WIDTH};
use std::arch::x86_64::*;

/// Tiles of 16 bytes of each element, for elements of at least 16 bytes. Lane `l` processes the elements `16 * l..16
/// * (l + 1)` independently.
#[derive(Clone, Copy)]
pub(in crate::filter) struct WideTiles {
    typesize: usize,
}

impl WideTiles {
    /// Returns tiles of elements of `typesize` bytes.
    ///
    /// # Panics
    /// If they are narrower than a tile.
    pub(in crate::filter) fn new(typesize: usize) -> Self {
        assert!(typesize >= WIDE_TILE_WIDTH);
        WideTiles { typesize }
    }
}

impl Tiles for WideTiles {
    type Columns = [__m512i; WIDE_TILE_WIDTH];

    #[inline(always)]
    fn width(&self) -> usize {
        WIDE_TILE_WIDTH
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns {
        // SAFETY: the level by the caller; each read is 16 bytes of an element of the tile.
        unsafe {
            let lane = WIDE_TILE_WIDTH * self.typesize;
            let mut rows = [_mm512_setzero_si512(); WIDE_TILE_WIDTH];
            for (v, row) in rows.iter_mut().enumerate() {
                let element = if REVERSED { v ^ 7 } else { v };
                let at = src.add(element * self.typesize);
                *row = _mm512_zextsi128_si512(_mm_loadu_si128(at.cast()));
                let piece = _mm_loadu_si128(at.add(lane).cast());
                *row = _mm512_mask_broadcast_i32x4(*row, 0x00f0, piece);
                let piece = _mm_loadu_si128(at.add(2 * lane).cast());
                *row = _mm512_mask_broadcast_i32x4(*row, 0x0f00, piece);
                let piece = _mm_loadu_si128(at.add(3 * lane).cast());
                *row = _mm512_mask_broadcast_i32x4(*row, 0xf000, piece);
            }
            for _ in 0..4 {
                interleave_rows(&mut rows);
            }
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut rows: Self::Columns, dest: *mut u8) {
        // SAFETY: the level by the caller; each write is 16 bytes of an element of the tile.
        unsafe {
            let lane = WIDE_TILE_WIDTH * self.typesize;
            for _ in 0..4 {
                interleave_rows(&mut rows);
            }
            for (v, &row) in rows.iter().enumerate() {
                let at = dest.add(v * self.typesize);
                _mm_storeu_si128(at.cast(), _mm512_castsi512_si128(row));
                _mm_storeu_si128(at.add(lane).cast(), _mm512_extracti32x4_epi32::<1>(row));
                _mm_storeu_si128(at.add(2 * lane).cast(), _mm512_extracti32x4_epi32::<2>(row));
                _mm_storeu_si128(at.add(3 * lane).cast(), _mm512_extracti32x4_epi32::<3>(row));
            }
        }
    }
}

/// [`WideTiles`] for less than a tile of elements: the bytes of the missing elements in the columns are unspecified.
#[derive(Clone, Copy)]
pub(in crate::filter) struct PartialWideTile {
    typesize: usize,
    elements: usize,
}

impl PartialWideTile {
    /// Returns tiles of `elements` elements, at least one, of `typesize` bytes.
    ///
    /// # Panics
    /// If the elements are narrower than a tile, or `elements` is 0.
    pub(in crate::filter) fn new(typesize: usize, elements: usize) -> Self {
        assert!(typesize >= WIDE_TILE_WIDTH && elements > 0);
        PartialWideTile { typesize, elements }
    }
}

impl Tiles for PartialWideTile {
    type Columns = [__m512i; WIDE_TILE_WIDTH];

    #[inline(always)]
    fn width(&self) -> usize {
        WIDE_TILE_WIDTH
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns {
        let last = self.elements - 1;
        // SAFETY: the level by the caller; each read is 16 bytes of an element that there is.
        unsafe {
            let mut rows = [_mm512_setzero_si512(); WIDE_TILE_WIDTH];
            for (v, row) in rows.iter_mut().enumerate() {
                let element = if REVERSED { v ^ 7 } else { v };
                for (lane, mask) in [0x000f, 0x00f0, 0x0f00, 0xf000].into_iter().enumerate() {
                    let at = src.add((16 * lane + element).min(last) * self.typesize);
                    *row = _mm512_mask_broadcast_i32x4(*row, mask, _mm_loadu_si128(at.cast()));
                }
            }
            for _ in 0..4 {
                interleave_rows(&mut rows);
            }
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut rows: Self::Columns, dest: *mut u8) {
        // SAFETY: the level by the caller; each write is 16 bytes of an element that there is.
        unsafe {
            for _ in 0..4 {
                interleave_rows(&mut rows);
            }
            for (v, &row) in rows.iter().enumerate() {
                let lanes = [
                    _mm512_castsi512_si128(row),
                    _mm512_extracti32x4_epi32::<1>(row),
                    _mm512_extracti32x4_epi32::<2>(row),
                    _mm512_extracti32x4_epi32::<3>(row),
                ];
                for (lane, &piece) in lanes.iter().enumerate() {
                    let element = 16 * lane + v;
                    if element < self.elements {
                        _mm_storeu_si128(dest.add(element * self.typesize).cast(), piece);
                    }
                }
            }
        }
    }
}

/// Rotates, in each lane of the vectors, the bits of a byte's address: the upper bit of the position in the lane
/// becomes the lower bit of the number of the vector, whose upper bit becomes the lower bit of the position. Four
/// rounds exchange positions and vectors.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn interleave_rows(rows: &mut [__m512i; WIDE_TILE_WIDTH]) {
    let before = *rows;
    for i in 0..WIDE_TILE_WIDTH / 2 {
        let (a, b) = (before[i], before[i + WIDE_TILE_WIDTH / 2]);
        // SAFETY: the level by the caller.
        unsafe {
            rows[2 * i] = _mm512_unpacklo_epi8(a, b);
            rows[2 * i + 1] = _mm512_unpackhi_epi8(a, b);
        }
    }
}
