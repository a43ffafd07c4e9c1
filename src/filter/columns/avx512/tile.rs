//! The parts that all types of tiles share: the trait [`Tiles`], their columns and tables of byte indices.

use std::arch::x86_64::*;

/// The number of elements of a tile, and of bytes of a vector.
pub(in crate::filter) const TILE: usize = 64;

/// The number of columns of a tile of [`WideTiles`](super::wide::WideTiles), which is a part of an element.
pub(in crate::filter) const WIDE_TILE_WIDTH: usize = 16;

/// The columns of a tile; those from the tile's width on are unspecified.
///
/// Each type of tiles has an array of exactly the needed length: longer arrays do not stay in registers.
pub(in crate::filter) trait Columns: Copy + AsRef<[__m512i]> + AsMut<[__m512i]> {
    /// Returns columns of zeros.
    ///
    /// # Safety
    /// The machine has the AVX-512 level.
    unsafe fn zero() -> Self;
}

impl<const U: usize> Columns for [__m512i; U] {
    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: by the contract of the trait the machine has the AVX-512 level.
        unsafe { [_mm512_setzero_si512(); U] }
    }
}

/// A table of 64 byte indices from a formula in the index of the byte.
macro_rules! table {
    ($at:ident => $formula:expr) => {{
        let mut table = [0u8; $crate::filter::columns::avx512::TILE];
        let mut $at = 0;
        while $at < table.len() {
            table[$at] = ($formula) as u8;
            $at += 1;
        }
        table
    }};
}

pub(in crate::filter) use table;

/// Converts tiles of one typesize to columns and back.
pub(in crate::filter) trait Tiles: Copy {
    type Columns: Columns;

    /// Returns the number of columns of a tile.
    fn width(&self) -> usize;

    /// Returns the columns of the tile at `src`, in each of which, if `REVERSED`, every 8 bytes are in reverse order.
    ///
    /// # Safety
    /// The machine has the AVX-512 level, and the tile can be read.
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns;

    /// Writes the tile of these columns at `dest`, and nothing but the tile.
    ///
    /// # Safety
    /// The machine has the AVX-512 level, and the tile can be written.
    unsafe fn scatter(&self, columns: Self::Columns, dest: *mut u8);
}

/// Loads a table of byte indices as a vector.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn load_table(table: &[u8; TILE]) -> __m512i {
    // SAFETY: the level by the caller; the table is as long as a vector.
    unsafe { _mm512_loadu_si512(table.as_ptr().cast()) }
}
