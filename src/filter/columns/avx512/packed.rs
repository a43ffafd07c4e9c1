use super::tile::{TILE, Tiles, load_table, table};
use super::transpose::{from_columns, to_columns};
use std::arch::x86_64::*;

/// Elements of `W = M * U` bytes, `U` a power of two up to 16 and `M` 1, 3 or 5, whose tile is exactly `W` full vectors.
///
/// Each element consists of `M` *units* of `U` bytes. `M` consecutive vectors hold `64 / U` elements, and one vector
/// holds the same number of units. Since `64 / U` and `M` have no common divisor, the units number `m` of these elements
/// are at different positions in their vectors, each position in exactly one vector: blends collect them, though out of
/// order. The permutation that orders them is merged with the first one of the transpose of their bytes.
#[derive(Clone, Copy)]
pub(in crate::filter) struct PackedTiles<const M: usize, const U: usize, const W: usize>;

impl<const M: usize, const U: usize, const W: usize> PackedTiles<M, U, W> {
    /// The number of units in a vector, and of elements in `M` vectors.
    const UNITS: usize = TILE / U;

    /// Returns, for each of `M` vectors, the masks of the bytes of each unit.
    const fn unit_masks() -> [[u64; M]; M] {
        let mut masks = [[0; M]; M];
        let mut i = 0;
        while i < TILE * M {
            masks[i / TILE][i / U % M] |= 1 << (i % TILE);
            i += 1;
        }
        masks
    }

    /// Returns the permutations of units number `m`, in the `r`th of their `U` vectors (number `m * U + r`): from the order
    /// after the blends to the order before the transpose, with every 8 bytes reversed if `reversed`.
    const fn split_permutations(reversed: bool) -> [[u8; TILE]; W] {
        let mut orders = [[0; TILE]; W];
        let mut i = 0;
        while i < W {
            orders[i] = table!(at => {
                let at = if reversed { at ^ 7 } else { at };
                let (place, element) = (at / Self::UNITS, at % Self::UNITS);
                (element * M + i / U) % Self::UNITS * U + (place ^ (i % U))
            });
            i += 1;
        }
        orders
    }

    /// The inverse of [`PackedTiles::split_permutations`] (without reversal).
    const fn join_permutations() -> [[u8; TILE]; W] {
        let there = Self::split_permutations(false);
        let mut orders = [[0; TILE]; W];
        let mut i = 0;
        while i < TILE * W {
            let (r, at) = (i / TILE, i % TILE);
            orders[r][there[r][at] as usize] = at as u8;
            i += 1;
        }
        orders
    }
}

impl<const M: usize, const U: usize, const W: usize> Tiles for PackedTiles<M, U, W> {
    type Columns = [__m512i; W];

    #[inline(always)]
    fn width(&self) -> usize {
        W
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns {
        let masks = const { &Self::unit_masks() };
        let orders = if REVERSED && U == 1 {
            const { &Self::split_permutations(true) }
        } else {
            const { &Self::split_permutations(false) }
        };
        // SAFETY: the level and the tile, which is `W` vectors, by the caller.
        unsafe {
            let mut columns = [_mm512_setzero_si512(); W];
            for (m, rows) in columns.as_chunks_mut::<U>().0.iter_mut().enumerate() {
                for (r, row) in rows.iter_mut().enumerate() {
                    let vectors = src.add(r * M * TILE);
                    *row = _mm512_loadu_si512(vectors.cast());
                    for (v, masks) in masks.iter().enumerate().skip(1) {
                        *row = _mm512_mask_loadu_epi8(*row, masks[m], vectors.add(v * TILE).cast());
                    }
                    if REVERSED || W > 1 {
                        *row = _mm512_permutexvar_epi8(load_table(&orders[m * U + r]), *row);
                    }
                }
                if U > 1 {
                    to_columns::<U, REVERSED>(rows);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut columns: Self::Columns, dest: *mut u8) {
        let (masks, orders) = const { (&Self::unit_masks(), &Self::join_permutations()) };
        // SAFETY: the level and the tile, which is `W` vectors, by the caller.
        unsafe {
            for (m, rows) in columns.as_chunks_mut::<U>().0.iter_mut().enumerate() {
                from_columns(rows);
                for (r, row) in rows.iter_mut().enumerate() {
                    if W > 1 {
                        *row = _mm512_permutexvar_epi8(load_table(&orders[m * U + r]), *row);
                    }
                }
            }
            for r in 0..U {
                for (v, masks) in masks.iter().enumerate() {
                    let mut vector = columns[r];
                    for (m, &mask) in masks.iter().enumerate().skip(1) {
                        vector = _mm512_mask_mov_epi8(vector, mask, columns[m * U + r]);
                    }
                    _mm512_storeu_si512(dest.add((r * M + v) * TILE).cast(), vector);
                }
            }
        }
    }
}
