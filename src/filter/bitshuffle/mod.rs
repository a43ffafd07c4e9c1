//! Bit shuffle (`filters.md` 5): bit `b` of byte `j` of every element goes into the bit row `8 * j + b`.
//!
//! With `q` the number of whole elements rounded down to a multiple of 8, the rows are `q / 8` bytes long and bit `e
//! % 8` of byte `e / 8` of a row belongs to element `e`. The bytes behind the last group of 8 elements are copied.
//! This file checks lengths and copies those bytes; the kernels are called with whole groups only.

mod generic;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

#[cfg(test)]
mod tests;

use super::copy::copy;
use super::cpu::{self, SimdLevel};
use super::{Direction, Kernel};
use generic::GROUP;

/// Bit-shuffles the block `src` of elements of `typesize` bytes (1 or more) into `dest`, writing all of it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(cpu::level(), Direction::Forward, typesize, src, dest);
}

/// Undoes [`bitshuffle`]: the inverse permutation of the block `src` into `dest`, writing all of it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(cpu::level(), Direction::Backward, typesize, src, dest);
}

/// [`bitshuffle`] for blocks of version 2 chunks (`filters.md` 5.1): a block is shuffled only if its number of whole
/// elements is a multiple of 8, and stored unchanged otherwise.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitshuffle_v2(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if (src.len() / typesize).is_multiple_of(GROUP) {
        bitshuffle(typesize, src, dest);
    } else {
        copy(src, dest);
    }
}

/// [`bitunshuffle`] for blocks of version 2 chunks: reverts [`bitshuffle_v2`].
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitunshuffle_v2(typesize: usize, src: &[u8], dest: &mut [u8]) {
    if (src.len() / typesize).is_multiple_of(GROUP) {
        bitunshuffle(typesize, src, dest);
    } else {
        copy(src, dest);
    }
}

/// [`bitshuffle`] with the kernels of one level.
///
/// # Panics
/// Like [`bitshuffle`].
pub fn bitshuffle_at(level: SimdLevel, typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(level, Direction::Forward, typesize, src, dest);
}

/// [`bitunshuffle`] with the kernels of one level.
///
/// # Panics
/// Like [`bitunshuffle`].
pub fn bitunshuffle_at(level: SimdLevel, typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(level, Direction::Backward, typesize, src, dest);
}

/// Runs the kernels of `level`.
#[inline]
fn run(level: SimdLevel, direction: Direction, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a bit shuffle differ in length");
    let elements = src.len() / typesize / GROUP * GROUP;
    let (body, tail) = src.split_at(elements * typesize);
    let (body_dest, tail_dest) = dest.split_at_mut(body.len());
    if !tail.is_empty() {
        tail_dest.copy_from_slice(tail);
    }
    if body.is_empty() {
        return;
    }
    let kernel: Kernel = match (level, direction) {
        #[cfg(target_arch = "x86_64")]
        (SimdLevel::Avx512(_), Direction::Forward) => avx512::run::<true>,
        #[cfg(target_arch = "x86_64")]
        (SimdLevel::Avx512(_), Direction::Backward) => avx512::run::<false>,
        #[cfg(target_arch = "x86_64")]
        (SimdLevel::Avx2(_), Direction::Forward) => avx2::run::<true>,
        #[cfg(target_arch = "x86_64")]
        (SimdLevel::Avx2(_), Direction::Backward) => avx2::run::<false>,
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        (SimdLevel::Neon(_), Direction::Forward) => neon::run::<true>,
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        (SimdLevel::Neon(_), Direction::Backward) => neon::run::<false>,
        (_, Direction::Forward) => generic::bitshuffle,
        (_, Direction::Backward) => generic::bitunshuffle,
    };
    // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole groups: above.
    unsafe { kernel(typesize, body, body_dest) };
}
