use super::tile::{TILE, Tiles, load_table, table};
use super::transpose::{from_columns, to_columns};
use std::arch::x86_64::*;

/// Elements of `U` bytes, a power of two up to 16, whose tile is exactly `U` full vectors.
#[derive(Clone, Copy)]
pub(in crate::filter) struct PackedTiles<const U: usize>;

impl<const U: usize> PackedTiles<U> {
    /// The number of elements in a vector.
    const ELEMENTS: usize = TILE / U;

    /// Returns the permutations, by vector, to the order before the transpose of the elements' bytes, with every 8 bytes
    /// reversed if `reversed`.
    const fn split_permutations(reversed: bool) -> [[u8; TILE]; U] {
        let mut orders = [[0; TILE]; U];
        let mut r = 0;
        while r < U {
            orders[r] = table!(at => {
                let at = if reversed { at ^ 7 } else { at };
                let (place, element) = (at / Self::ELEMENTS, at % Self::ELEMENTS);
                element * U + (place ^ r)
            });
            r += 1;
        }
        orders
    }

    /// The inverse of [`PackedTiles::split_permutations`] (without reversal).
    const fn join_permutations() -> [[u8; TILE]; U] {
        let there = Self::split_permutations(false);
        let mut orders = [[0; TILE]; U];
        let mut i = 0;
        while i < TILE * U {
            let (r, at) = (i / TILE, i % TILE);
            orders[r][there[r][at] as usize] = at as u8;
            i += 1;
        }
        orders
    }
}

impl<const U: usize> Tiles for PackedTiles<U> {
    type Columns = [__m512i; U];

    #[inline(always)]
    fn width(&self) -> usize {
        U
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns {
        let orders = if REVERSED && U == 1 {
            const { &Self::split_permutations(true) }
        } else {
            const { &Self::split_permutations(false) }
        };
        // SAFETY: the level and the tile, which is `U` vectors, by the caller.
        unsafe {
            let mut rows = [_mm512_setzero_si512(); U];
            for (r, row) in rows.iter_mut().enumerate() {
                *row = _mm512_loadu_si512(src.add(r * TILE).cast());
                if REVERSED || U > 1 {
                    *row = _mm512_permutexvar_epi8(load_table(&orders[r]), *row);
                }
            }
            if U > 1 {
                to_columns::<U, REVERSED>(&mut rows);
            }
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut rows: Self::Columns, dest: *mut u8) {
        let orders = const { &Self::join_permutations() };
        // SAFETY: the level and the tile, which is `U` vectors, by the caller.
        unsafe {
            from_columns(&mut rows);
            for (r, row) in rows.iter_mut().enumerate() {
                if U > 1 {
                    *row = _mm512_permutexvar_epi8(load_table(&orders[r]), *row);
                }
                _mm512_storeu_si512(dest.add(r * TILE).cast(), *row);
            }
        }
    }
}
