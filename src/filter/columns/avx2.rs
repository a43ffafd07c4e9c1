//! Tiles of 32 elements in 256-bit vectors. Each 128-bit lane processes 16 elements independently, because AVX2 moves
//! bytes cheaply only inside lanes.

use std::arch::x86_64::*;

/// The number of elements of a tile.
pub(in crate::filter) const TILE: usize = 32;

/// The number of elements of a lane.
const LANE: usize = 16;

/// The width in bytes of the widest element (or slice of an element) of a tile.
pub(in crate::filter) const MAX_WIDTH: usize = 16;

/// The layout of the elements of a tile in memory, and the byte permutations that follow from it.
///
/// `P`, the number of vectors, is a power of two between 2 and 16 and not less than the number of columns. A lane of a
/// vector then holds `16 / P` elements.
#[derive(Clone, Copy)]
pub(in crate::filter) struct TileLayout<const P: usize> {
    /// The distance of two elements in bytes.
    stride: usize,
    /// The number of bytes of each element that belong to the tile: its number of columns.
    width: usize,
    /// The shuffle from elements in memory order to `P` columns of `16 / P` bytes each.
    split: __m256i,
    /// The inverse of `split`.
    join: __m256i,
}

impl<const P: usize> TileLayout<P> {
    /// The number of elements in a lane of a vector.
    const PER_LANE: usize = LANE / P;

    /// The bytes of `split`, indexed by width.
    const SPLIT: [[u8; 16]; MAX_WIDTH + 1] = {
        let mut tables = [[0x80; 16]; MAX_WIDTH + 1];
        let mut width = 1;
        while width <= P {
            let mut at = 0;
            while at < width * Self::PER_LANE {
                let (j, e) = (at / Self::PER_LANE, at % Self::PER_LANE);
                tables[width][at] = (e * width + j) as u8;
                at += 1;
            }
            width += 1;
        }
        tables
    };

    /// The bytes of `join`, indexed by width.
    const JOIN: [[u8; 16]; MAX_WIDTH + 1] = {
        let mut tables = [[0x80; 16]; MAX_WIDTH + 1];
        let mut width = 1;
        while width <= P {
            let mut at = 0;
            while at < width * Self::PER_LANE {
                let (e, j) = (at / width, at % width);
                tables[width][at] = (j * Self::PER_LANE + e) as u8;
                at += 1;
            }
            width += 1;
        }
        tables
    };

    /// Returns the layout of elements of `stride` bytes. If they are wider than the tile, only 16 bytes of each
    /// belong to it and `P` is 16.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::filter) fn new(stride: usize) -> Self {
        let width = stride.min(MAX_WIDTH);
        assert!(width <= P && P <= 16 && (P == 16 || stride == width));
        TileLayout {
            stride,
            width,
            split: both_lanes(&Self::SPLIT[width]),
            join: both_lanes(&Self::JOIN[width]),
        }
    }

    /// Returns the number of columns.
    #[inline(always)]
    pub(in crate::filter) fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of bytes from the first to the last byte of a tile, both included.
    #[inline(always)]
    fn extent(&self) -> usize {
        (TILE - 1) * self.stride + self.width
    }

    /// Returns the number of bytes behind the tile that its last 16-byte access touches.
    #[inline(always)]
    fn excess(&self) -> usize {
        16 - Self::PER_LANE * self.width
    }

    /// Returns the columns of the tile at `src`, from which on `room` bytes can be accessed; columns from `width` on
    /// are unspecified.
    ///
    /// # Safety
    /// The machine has AVX2, the tile is inside the `room` bytes, and these can be read.
    #[inline(always)]
    pub(in crate::filter) unsafe fn gather(&self, src: *const u8, room: usize) -> [__m256i; P] {
        // Elements of `P` bytes have no excess; if the typesize is a constant, the compiler drops the check.
        if self.excess() == 0 || room >= self.extent() + self.excess() {
            // SAFETY: by the contract the tile is inside the `room` bytes, and there is room for the excess.
            unsafe { self.gather_unchecked(src) }
        } else {
            let mut padded = [0u8; TILE * MAX_WIDTH + 16];
            // SAFETY: the tile can be read. There is excess only where elements lie side by side (`new`), so it is at
            // most TILE * MAX_WIDTH bytes long.
            unsafe {
                src.copy_to_nonoverlapping(padded.as_mut_ptr(), self.extent());
                self.gather_unchecked(padded.as_ptr())
            }
        }
    }

    /// # Safety
    /// The machine has AVX2, and the tile and the excess behind it can be read at `src`.
    #[inline(always)]
    unsafe fn gather_unchecked(&self, src: *const u8) -> [__m256i; P] {
        // SAFETY: AVX2 by the caller.
        let mut rows = unsafe { [_mm256_setzero_si256(); P] };
        for (v, row) in rows.iter_mut().enumerate() {
            let at = v * Self::PER_LANE * self.stride;
            // SAFETY: both reads are inside the range that the caller guarantees: 16 bytes from an element of the
            // tile.
            unsafe {
                let low = _mm_loadu_si128(src.add(at).cast());
                let high = _mm_loadu_si128(src.add(at + LANE * self.stride).cast());
                *row = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
                if P != 16 {
                    *row = _mm256_shuffle_epi8(*row, self.split);
                }
            }
        }
        // SAFETY: AVX2 by the caller.
        unsafe { exchange_parts(rows) }
    }

    /// Writes the tile of these columns at `dest`, from which on `room` bytes can be accessed. The 16 bytes behind
    /// the tile may be overwritten with garbage, so tiles are written in the order of their addresses. Where elements
    /// are wider than the tile, only the tile is written.
    ///
    /// # Safety
    /// The machine has AVX2, the tile is inside the `room` bytes, and these can be written.
    #[inline(always)]
    pub(in crate::filter) unsafe fn scatter(&self, columns: [__m256i; P], dest: *mut u8, room: usize) {
        if self.excess() == 0 || room >= self.extent() + self.excess() {
            // SAFETY: by the contract the tile is inside the `room` bytes, and there is room for the excess.
            unsafe { self.scatter_unchecked(columns, dest) };
        } else {
            let mut padded = [0u8; TILE * MAX_WIDTH + 16];
            // SAFETY: the tile can be written. There is excess only where elements lie side by side (`new`), so it is
            // at most TILE * MAX_WIDTH bytes long.
            unsafe {
                self.scatter_unchecked(columns, padded.as_mut_ptr());
                dest.copy_from_nonoverlapping(padded.as_ptr(), self.extent());
            }
        }
    }

    /// # Safety
    /// The machine has AVX2, and the tile and the excess behind it can be written at `dest`.
    #[inline(always)]
    unsafe fn scatter_unchecked(&self, columns: [__m256i; P], dest: *mut u8) {
        // SAFETY: AVX2 by the caller.
        let mut rows = unsafe { exchange_parts(columns) };
        if P != 16 {
            for row in &mut rows {
                // SAFETY: AVX2 by the caller.
                *row = unsafe { _mm256_shuffle_epi8(*row, self.join) };
            }
        }
        for (v, &row) in rows.iter().enumerate() {
            // SAFETY: the write is inside the range that the caller guarantees: 16 bytes from an element of the tile.
            unsafe {
                let at = dest.add(v * Self::PER_LANE * self.stride);
                _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(row));
            }
        }
        for (v, &row) in rows.iter().enumerate() {
            // SAFETY: the write is inside the range that the caller guarantees: 16 bytes from an element of the tile.
            unsafe {
                let at = dest.add((LANE + v * Self::PER_LANE) * self.stride);
                _mm_storeu_si128(at.cast(), _mm256_extracti128_si256::<1>(row));
            }
        }
    }
}

/// Exchanges, in each lane, the index of the vector with the index of the `P`th part of the lane: part `j` of vector
/// `v` becomes part `v` of vector `j`. It is its own inverse.
///
/// Every round shifts the upper bit of the part's index into the vector's index as its lowest bit, and the upper bit
/// of the vector's index into the part's index as its lowest bit.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(in crate::filter) unsafe fn exchange_parts<const P: usize>(mut rows: [__m256i; P]) -> [__m256i; P] {
    for _ in 0..P.ilog2() {
        let before = rows;
        for i in 0..P / 2 {
            let (a, b) = (before[i], before[i + P / 2]);
            // SAFETY: AVX2 by the caller.
            (rows[2 * i], rows[2 * i + 1]) = unsafe {
                match P {
                    2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                    4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                    8 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                    _ => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                }
            };
        }
    }
    rows
}

/// Returns a vector with the 16 bytes in both lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::filter) fn both_lanes(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the read is the whole array.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}
