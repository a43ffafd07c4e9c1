//! Byte shuffle (`filters.md` 4): byte `j` of every element goes into stream `j`.
//!
//! With elements of `typesize` bytes and `q = len / typesize` of them, `out[j * q + i] = in[i * typesize + j]`; the
//! `len % typesize` bytes that are left are copied. This file checks lengths and handles the cases in which no byte
//! moves; the kernels are called with whole elements only.

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
use generic::count_elements;

/// Shuffles the block `src` of elements of `typesize` bytes (1 or more) into `dest`, writing all of it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(cpu::level(), Direction::Forward, typesize, src, dest);
}

/// Undoes [`shuffle`]: the inverse permutation of the block `src` into `dest`, writing all of it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(cpu::level(), Direction::Backward, typesize, src, dest);
}

/// [`shuffle`] with the kernels of one level.
///
/// # Panics
/// Like [`shuffle`].
pub fn shuffle_at(level: SimdLevel, typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(level, Direction::Forward, typesize, src, dest);
}

/// [`unshuffle`] with the kernels of one level.
///
/// # Panics
/// Like [`unshuffle`].
pub fn unshuffle_at(level: SimdLevel, typesize: usize, src: &[u8], dest: &mut [u8]) {
    run(level, Direction::Backward, typesize, src, dest);
}

/// Runs the kernels of `level`.
#[inline]
fn run(level: SimdLevel, direction: Direction, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a shuffle differ in length");
    let elements = count_elements(src.len(), typesize);
    if typesize == 1 || elements < 2 {
        copy(src, dest);
        return;
    }
    let (body, tail) = src.split_at(elements * typesize);
    let (body_dest, tail_dest) = dest.split_at_mut(body.len());
    if !tail.is_empty() {
        tail_dest.copy_from_slice(tail);
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
        (SimdLevel::Neon(_), Direction::Forward) => neon::shuffle,
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        (SimdLevel::Neon(_), Direction::Backward) => neon::unshuffle,
        (_, Direction::Forward) => generic::shuffle,
        (_, Direction::Backward) => generic::unshuffle,
    };
    // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of which
    // there are 2 of 2 bytes or more: above.
    unsafe { kernel(typesize, body, body_dest) };
}
