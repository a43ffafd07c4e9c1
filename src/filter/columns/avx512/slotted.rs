use super::tile::{TILE, Tiles, load_table};
use super::transpose::{from_columns, to_columns};
use std::arch::x86_64::*;

/// Elements of more than `P / 2` and at most `P` bytes, `P` 8 or 16: every element is expanded to a slot of `P`
/// bytes.
#[derive(Clone, Copy)]
pub(in crate::filter) struct SlottedTiles<const P: usize> {
    typesize: usize,
}

impl<const P: usize> SlottedTiles<P> {
    /// The number of slots of a vector.
    const SLOTS: usize = TILE / P;

    /// The permutation, by typesize (minus 1) and vector, from contiguous elements to the positions at which the
    /// transpose of the slots' bytes starts.
    const SPLIT_PERMUTATIONS: [[[u8; TILE]; P]; P] = {
        let mut orders = [[[0; TILE]; P]; P];
        let mut i = 0;
        while i < TILE * P * P {
            let (typesize, r, at) = (i / TILE / P + 1, i / TILE % P, i % TILE);
            let (place, element) = (at / Self::SLOTS, at % Self::SLOTS);
            if place ^ r < typesize {
                orders[typesize - 1][r][at] = (element * typesize + (place ^ r)) as u8;
            }
            i += 1;
        }
        orders
    };

    /// The inverse of `SPLIT_PERMUTATIONS`.
    const JOIN_PERMUTATIONS: [[[u8; TILE]; P]; P] = {
        let mut orders = [[[0; TILE]; P]; P];
        let mut i = 0;
        while i < TILE * P * P {
            let (typesize, r, at) = (i / TILE / P + 1, i / TILE % P, i % TILE);
            if at < Self::SLOTS * typesize {
                orders[typesize - 1][r][at] = (((at % typesize) ^ r) * Self::SLOTS + at / typesize) as u8;
            }
            i += 1;
        }
        orders
    };

    /// Returns tiles of elements of `typesize` bytes.
    ///
    /// # Panics
    /// If the typesize does not fit the slots as described.
    pub(in crate::filter) fn new(typesize: usize) -> Self {
        assert!(P / 2 < typesize && typesize <= P);
        SlottedTiles { typesize }
    }

    /// Returns the mask of the bytes of a vector that the elements for its slots fill.
    #[inline(always)]
    fn mask(&self) -> u64 {
        u64::MAX >> (TILE - Self::SLOTS * self.typesize)
    }
}

// A full vector is read and written at once, though the elements for its slots fill only a part of it, more than
// half. The excess bytes that are read, or written before the next vector overwrites them, are inside the tile,
// except for the last vector, which is masked.
impl<const P: usize> Tiles for SlottedTiles<P> {
    type Columns = [__m512i; P];

    #[inline(always)]
    fn width(&self) -> usize {
        self.typesize
    }

    #[inline(always)]
    unsafe fn gather<const REVERSED: bool>(&self, src: *const u8) -> Self::Columns {
        // SAFETY: the level by the caller; the reads are in the tile as said above.
        unsafe {
            let orders = &const { &Self::SPLIT_PERMUTATIONS }[self.typesize - 1];
            let mut rows = [_mm512_setzero_si512(); P];
            for (v, row) in rows.iter_mut().enumerate() {
                let at = src.add(v * Self::SLOTS * self.typesize);
                let elements = if v < P - 1 {
                    _mm512_loadu_si512(at.cast())
                } else {
                    _mm512_maskz_loadu_epi8(self.mask(), at.cast())
                };
                *row = _mm512_permutexvar_epi8(load_table(&orders[v]), elements);
            }
            to_columns::<P, REVERSED>(&mut rows);
            rows
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, mut rows: Self::Columns, dest: *mut u8) {
        // SAFETY: the level by the caller; the writes are in the tile as said above.
        unsafe {
            let orders = &const { &Self::JOIN_PERMUTATIONS }[self.typesize - 1];
            from_columns(&mut rows);
            for (v, &row) in rows.iter().enumerate() {
                let at = dest.add(v * Self::SLOTS * self.typesize);
                let elements = _mm512_permutexvar_epi8(load_table(&orders[v]), row);
                if v < P - 1 {
                    _mm512_storeu_si512(at.cast(), elements);
                } else {
                    _mm512_mask_storeu_epi8(at.cast(), self.mask(), elements);
                }
            }
        }
    }
}
