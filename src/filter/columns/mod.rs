//! Converts elements to columns and back, in registers: the step that all shuffle kernels share.
//!
//! A *tile* is a fixed number of consecutive elements; its *column* `j` is byte `j` of each of them. `gather` turns a
//! tile in memory into column vectors, `scatter` writes column vectors back as a tile. The kernels of `shuffle` and
//! `bitshuffle` determine the addresses of columns and bit rows.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) mod neon;

/// Returns the starts of the pieces of `size` that cover `0..len`. The last piece ends at `len`: it overlaps the
/// piece before if `size` does not divide `len`, so that no kernel needs a loop for a remainder.
///
/// `len` is at least `size`.
#[inline(always)]
pub(super) fn covering_starts(len: usize, size: usize) -> impl Iterator<Item = usize> {
    debug_assert!(len >= size);
    (0..len).step_by(size).map(move |start| start.min(len - size))
}

/// Returns the same starts as [`covering_starts`], in groups of `count`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn covering_start_groups(
    len: usize,
    size: usize,
    count: usize,
) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
    debug_assert!(len >= size);
    let group = size * count;
    (0..len)
        .step_by(group)
        .map(move |from| (from..len.min(from + group)).step_by(size).map(move |start| start.min(len - size)))
}
