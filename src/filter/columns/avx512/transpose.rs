//! Transposes of vectors by blends.
//!
//! `N` vectors are matrices of `N` rows, of `N` *granules* of `64 / N` bytes. A shuffle of a vector's bytes is work for one
//! unit of the processor (of Intel's, half of them of AMD's), a blend of two vectors for any. So the granules change
//! vectors by blends, which leave them at their place: granule `c` of vector `r` is first put to place `c ^ r`; then
//! [`exchange`] lets vectors change granules place by place, a round for each bit of the place; and granule
//! `r` of vector `c`, then at place `c ^ r`, is put right. The first and the last step are one permute of each vector,
//! which does on the way whatever else is to be done inside a vector.

use super::tile::{TILE, load, table};
use std::arch::x86_64::*;

/// Bytes of a granule of `N` vectors.
const fn granule(n: usize) -> usize {
    TILE / n
}

/// The last permute of [`split`], by column; with every 8 bytes in reverse order if `reversed`. It is the first of [`join`]
/// too.
const fn placed<const N: usize>(reversed: bool) -> [[u8; TILE]; N] {
    let mut orders = [[0; TILE]; N];
    let mut c = 0;
    while c < N {
        orders[c] = table!(at => {
            let at = if reversed { at ^ 7 } else { at };
            ((at / granule(N)) ^ c) * granule(N) + at % granule(N)
        });
        c += 1;
    }
    orders
}

/// Lets place `p` of vector `c` have what vector `c ^ p` has there, for all of them.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn exchange<const N: usize>(rows: &mut [__m512i; N]) {
    for bit in 0..N.ilog2() as usize {
        let mask = const { places::<N>() }[bit];
        for pair in 0..N / 2 {
            let i = (pair >> bit << (bit + 1)) + pair % (1 << bit);
            let j = i + (1 << bit);
            let (a, b) = (rows[i], rows[j]);
            // SAFETY: the level by the caller.
            unsafe {
                rows[i] = _mm512_mask_mov_epi8(a, mask, b);
                rows[j] = _mm512_mask_mov_epi8(b, mask, a);
            }
        }
    }
}

/// For each bit of the number of a place: the bytes of the places that have it.
const fn places<const N: usize>() -> [u64; 4] {
    let mut masks = [0; 4];
    let mut at = 0;
    while at < TILE * N.ilog2() as usize {
        let (bit, byte) = (at / TILE, at % TILE);
        masks[bit] |= (((byte / granule(N)) >> bit & 1) as u64) << byte;
        at += 1;
    }
    masks
}

/// Ends the transpose of the vectors whose granules have been put to their places: vector `c` becomes
/// column `c`, in which, if `REVERSED`, every 8 bytes are in reverse order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(super) unsafe fn to_columns<const N: usize, const REVERSED: bool>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        exchange(rows);
        let orders = const { &placed::<N>(REVERSED) };
        for (c, row) in rows.iter_mut().enumerate() {
            if c > 0 || REVERSED {
                *row = _mm512_permutexvar_epi8(load(&orders[c]), *row);
            }
        }
    }
}

/// Begins the inverse of [`to_columns`] (without reversal), after which the granules are at the places that they have there.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(super) unsafe fn from_columns<const N: usize>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        let orders = const { &placed::<N>(false) };
        for (c, row) in rows.iter_mut().enumerate().skip(1) {
            *row = _mm512_permutexvar_epi8(load(&orders[c]), *row);
        }
        exchange(rows);
    }
}

/// Turns the vectors, in which elements of `N` bytes lie one after the other, into their columns, in
/// each of which, if `REVERSED`, every 8 bytes are in reverse order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn split<const N: usize, const REVERSED: bool>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi8(load(&const { taken_apart::<N>() }[r]), *row);
        }
        to_columns::<N, REVERSED>(rows);
    }
}

/// The inverse of [`split`] (without reversal).
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn join<const N: usize>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        from_columns(rows);
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi8(load(&const { put_together::<N>() }[r]), *row);
        }
    }
}

/// By vector: byte `c` of each of its elements of `N` bytes to the granule `c ^ r`.
const fn taken_apart<const N: usize>() -> [[u8; TILE]; N] {
    let mut orders = [[0; TILE]; N];
    let mut r = 0;
    while r < N {
        orders[r] = table!(at => at % granule(N) * N + ((at / granule(N)) ^ r));
        r += 1;
    }
    orders
}

/// The inverse of [`taken_apart`].
const fn put_together<const N: usize>() -> [[u8; TILE]; N] {
    let mut orders = [[0; TILE]; N];
    let mut r = 0;
    while r < N {
        orders[r] = table!(at => ((at % N) ^ r) * granule(N) + at / N);
        r += 1;
    }
    orders
}
