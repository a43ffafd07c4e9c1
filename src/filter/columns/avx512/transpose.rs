//! Transposes of vectors by blends.
//!
//! `N` vectors are matrices of `N` rows, of `N` *granules* of `64 / N` bytes. A shuffle of a vector's bytes can run on
//! one unit of the processor (Intel) or on half of the units (AMD), a blend of two vectors on any. So granules move
//! between vectors by blends, which keep their position: granule `c` of vector `r` is first moved to position `c ^ r`;
//! then [`exchange_granules`] swaps granules between vectors position by position, a round for each bit of the
//! position; and granule `r` of vector `c`, then at position `c ^ r`, is moved to its final position. The first and the
//! last step are one permutation of each vector, which includes all other permutations inside the vector.

use super::tile::{TILE, load_table, table};
use std::arch::x86_64::*;

/// Returns the size in bytes of a granule of `n` vectors.
const fn granule_size(n: usize) -> usize {
    TILE / n
}

/// Returns the last permutation of [`elements_to_columns`], by column; with every 8 bytes in reverse order if
/// `reversed`. It is also the first permutation of [`columns_to_elements`].
const fn column_permutations<const N: usize>(reversed: bool) -> [[u8; TILE]; N] {
    let mut orders = [[0; TILE]; N];
    let mut c = 0;
    while c < N {
        orders[c] = table!(at => {
            let at = if reversed { at ^ 7 } else { at };
            ((at / granule_size(N)) ^ c) * granule_size(N) + at % granule_size(N)
        });
        c += 1;
    }
    orders
}

/// Moves granules between vectors: position `p` of vector `c` receives the granule of vector `c ^ p` at that
/// position, for all `p` and `c`.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
unsafe fn exchange_granules<const N: usize>(rows: &mut [__m512i; N]) {
    for bit in 0..N.ilog2() as usize {
        let mask = const { position_masks::<N>() }[bit];
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

/// Returns, for each bit of a position's number, the mask of the bytes of the positions in which the bit is set.
const fn position_masks<const N: usize>() -> [u64; 4] {
    let mut masks = [0; 4];
    let mut at = 0;
    while at < TILE * N.ilog2() as usize {
        let (bit, byte) = (at / TILE, at % TILE);
        masks[bit] |= (((byte / granule_size(N)) >> bit & 1) as u64) << byte;
        at += 1;
    }
    masks
}

/// Completes the transpose of vectors whose granules have been moved to their start positions: vector `c` becomes
/// column `c`, in which, if `REVERSED`, every 8 bytes are in reverse order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(super) unsafe fn to_columns<const N: usize, const REVERSED: bool>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        exchange_granules(rows);
        let orders = const { &column_permutations::<N>(REVERSED) };
        for (c, row) in rows.iter_mut().enumerate() {
            if c > 0 || REVERSED {
                *row = _mm512_permutexvar_epi8(load_table(&orders[c]), *row);
            }
        }
    }
}

/// Does the first part of the inverse of [`to_columns`] (without reversal). Afterwards the granules are at the
/// positions that [`to_columns`] starts with.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(super) unsafe fn from_columns<const N: usize>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        let orders = const { &column_permutations::<N>(false) };
        for (c, row) in rows.iter_mut().enumerate().skip(1) {
            *row = _mm512_permutexvar_epi8(load_table(&orders[c]), *row);
        }
        exchange_granules(rows);
    }
}

/// Transposes vectors of contiguous elements of `N` bytes into their columns, in each of which, if `REVERSED`, every
/// 8 bytes are in reverse order.
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn elements_to_columns<const N: usize, const REVERSED: bool>(
    rows: &mut [__m512i; N],
) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi8(load_table(&const { split_permutations::<N>() }[r]), *row);
        }
        to_columns::<N, REVERSED>(rows);
    }
}

/// The inverse of [`elements_to_columns`] (without reversal).
///
/// # Safety
/// The machine has the AVX-512 level.
#[inline(always)]
pub(in crate::filter) unsafe fn columns_to_elements<const N: usize>(rows: &mut [__m512i; N]) {
    // SAFETY: (all) the level by the caller.
    unsafe {
        from_columns(rows);
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi8(load_table(&const { join_permutations::<N>() }[r]), *row);
        }
    }
}

/// Returns the permutation of each vector that moves byte `c` of each of its elements of `N` bytes to the granule `c
/// ^ r`, where `r` is the number of the vector.
const fn split_permutations<const N: usize>() -> [[u8; TILE]; N] {
    let mut orders = [[0; TILE]; N];
    let mut r = 0;
    while r < N {
        orders[r] = table!(at => at % granule_size(N) * N + ((at / granule_size(N)) ^ r));
        r += 1;
    }
    orders
}

/// The inverse of [`split_permutations`].
const fn join_permutations<const N: usize>() -> [[u8; TILE]; N] {
    let mut orders = [[0; TILE]; N];
    let mut r = 0;
    while r < N {
        orders[r] = table!(at => ((at % N) ^ r) * granule_size(N) + at / N);
        r += 1;
    }
    orders
}
