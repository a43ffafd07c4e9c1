use super::tile::{TILE, Tiles, load_table, table};
use super::transpose::{from_columns, to_columns};
use std::arch::x86_64::*;

/// Elements of `M * U` bytes, `U` a power of two up to 16 and `M` one of 1, 3, 5, whose tile is exactly `M * U` full
/// vectors.
///
/// Each element consists of `M` *units* of `U` bytes. `M` consecutive vectors hold `64 / U` elements, and one vector
/// holds the same number of units. Since `64 / U` and `M` have no common divisor, the units number `m` of these
/// elements are at different positions in their vectors, each position in exactly one vector: blends collect them,
/// though out of order. The permutation that orders them is merged with the first one of the transpose of their
/// bytes.
#[derive(Clone, Copy)]
pub(in crate::filter) struct PackedTiles<const M: usize, const U: usize>;

impl<const M: usize, const U: usize> PackedTiles<M, U> {
    const WIDTH: usize = M * U;

    /// The number of units in a vector, and of elements in `M` vectors.
    const UNITS: usize = TILE / U;

    /// For each remainder modulo `M`: the mask of the bytes of the units in a vector whose number has that remainder.
    const UNIT_MASKS: [u64; M] = {
        let mut masks = [0; M];
        let mut at = 0;
        while at < TILE {
            masks[at / U % M] |= 1 << at;
            at += 1;
        }
        masks
    };

    /// Returns the mask of the bytes of units number `m` in the vector number `v` of `M`.
    const fn unit_mask(m: usize, v: usize) -> u64 {
        Self::UNIT_MASKS[(m + (M - 1) * v * Self::UNITS) % M]
    }

    /// Returns the permutations of units number `m`, in the `r`th of their `U` vectors: from the order after the
    /// blends to the order before the transpose, with every 8 bytes reversed if `reversed`.
    const fn split_permutations(reversed: bool) -> [[[u8; TILE]; U]; M] {
        let mut orders = [[[0; TILE]; U]; M];
        let mut i = 0;
        while i < M * U {
            let (m, r) = (i / U, i % U);
            orders[m][r] = table!(at => {
                let at = if reversed { at ^ 7 } else { at };
                let (place, element) = (at / Self::UNITS, at % Self::UNITS);
                (element * M + m) % Self::UNITS * U + (place ^ r)
            });
            i += 1;
        }
        orders
    }

    /// The inverse of [`PackedTiles::split_permutations`] (without reversal).
    const fn join_permutations() -> [[[u8; TILE]; U]; M] {
        let there = Self::split_permutations(false);
        let mut orders = [[[0; TILE]; U]; M];
        let mut i = 0;
        while i < TILE * M * U {
            let (m, r, at) = (i / TILE / U, i / TILE % U, i % TILE);
            orders[m][r][there[m][r][at] as usize] = at as u8;
            i += 1;
        }
        orders
    }
}

impl<const M: usize, const U: usize> Tiles for PackedTiles<M, U> {
    type Columns = [[__m512i; U]; M];

    #[inline(always)]
    fn width(&self) -> usize {
        Self::WIDTH
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns {
        let orders = if REVERSED && U == 1 {
            const { &Self::split_permutations(true) }
        } else {
            const { &Self::split_permutations(false) }
        };
        // SAFETY: the level and the tile, which is `WIDTH` vectors, by the caller.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); U]; M];
            for (m, rows) in columns.iter_mut().enumerate() {
                for (r, row) in rows.iter_mut().enumerate() {
                    let vectors = src.add(r * M * TILE);
                    *row = _mm512_loadu_si512(vectors.cast());
                    for v in 1..M {
                        let vector = vectors.add(v * TILE).cast();
                        *row = _mm512_mask_loadu_epi8(*row, Self::unit_mask(m, v), vector);
                    }
                    if REVERSED || Self::WIDTH > 1 {
                        *row = _mm512_permutexvar_epi8(load_table(&orders[m][r]), *row);
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
        let orders = const { &Self::join_permutations() };
        // SAFETY: the level and the tile, which is `WIDTH` vectors, by the caller.
        unsafe {
            for (m, rows) in columns.iter_mut().enumerate() {
                from_columns(rows);
                for (r, row) in rows.iter_mut().enumerate() {
                    if Self::WIDTH > 1 {
                        *row = _mm512_permutexvar_epi8(load_table(&orders[m][r]), *row);
                    }
                }
            }
            for r in 0..U {
                for v in 0..M {
                    let mut vector = columns[0][r];
                    for (m, rows) in columns.iter().enumerate().skip(1) {
                        vector = _mm512_mask_mov_epi8(vector, Self::unit_mask(m, v), rows[r]);
                    }
                    _mm512_storeu_si512(dest.add((r * M + v) * TILE).cast(), vector);
                }
            }
        }
    }
}
