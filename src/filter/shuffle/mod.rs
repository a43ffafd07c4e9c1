//! Byte shuffle (`filters.md` 4): byte `j` of every element goes into stream `j`.
//!
//! With elements of `typesize` bytes and `q = len / typesize` of them, `out[j * q + i] = in[i * typesize + j]`; the
//! `len % typesize` bytes that are left are copied. This file checks lengths and handles the cases in which no byte
//! moves; the kernels are called with whole elements only.

mod generic;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod plane_sources;
mod planes;

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
use crate::tuning::tunable;
use generic::count_elements;
pub(crate) use planes::{MAX_SEPARATE_PLANES, SeparatePlane};

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

tunable! {
    /// Whether streams that are not contiguous have a kernel (docs/tuning.md).
    const HAS_PLANE_KERNEL: bool = true;
}

/// The smallest number of elements of [`unshuffle_planes`]: at least a tile.
const MIN_PLANE_LEN: usize = 64;

/// Returns whether the machine has a kernel of [`unshuffle_planes`] for `len` bytes.
pub(crate) fn can_unshuffle_planes(typesize: usize, len: usize) -> bool {
    HAS_PLANE_KERNEL.get()
        && !matches!(cpu::level(), SimdLevel::Generic)
        && matches!(typesize, 2 | 4 | 8)
        && len >= MIN_PLANE_LEN * typesize
}

/// Unshuffles like [`unshuffle`] streams that need not be contiguous: `planes[j]` is stream `j`. Streams that are in a
/// chunk or a decoded block are not copied for that, and runs are not written.
///
/// # Panics
/// If [`can_unshuffle_planes`] is false, or if the planes differ in length or are not `dest.len()` bytes together.
pub(crate) fn unshuffle_planes(planes: &[SeparatePlane<'_>], dest: &mut [u8]) {
    unshuffle_planes_at(cpu::level(), planes, dest);
}

/// [`unshuffle_planes`] with the kernel of one level.
///
/// # Panics
/// Like [`unshuffle_planes`].
fn unshuffle_planes_at(level: SimdLevel, planes: &[SeparatePlane<'_>], dest: &mut [u8]) {
    let typesize = planes.len();
    let is_whole = |plane: &SeparatePlane<'_>| match plane {
        SeparatePlane::Bytes(bytes) => bytes.len() * typesize == dest.len(),
        SeparatePlane::Run(_) => dest.len().is_multiple_of(typesize),
    };
    assert!(
        can_unshuffle_planes(typesize, dest.len()) && planes.iter().all(is_whole),
        "{typesize} planes for {} bytes, expected 2, 4 or 8 of equal lengths",
        dest.len()
    );
    match level {
        // SAFETY: the level proves that the machine has the instructions; there are enough elements, as many bytes in
        // each plane, and 2, 4 or 8 planes, as just checked.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512(_) => unsafe { avx512::unshuffle_planes(planes, dest) },
        // SAFETY: the level proves that the machine has AVX2; the planes are as just checked.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2(_) => unsafe { avx2::unshuffle_planes(planes, dest) },
        // SAFETY: the level proves that the machine has NEON; the planes are as just checked.
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        SimdLevel::Neon(_) => unsafe { neon::unshuffle_planes(planes, dest) },
        _ => unreachable!("`can_unshuffle_planes` is true with SIMD only"),
    }
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
        (SimdLevel::Neon(_), Direction::Forward) => neon::run::<true>,
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        (SimdLevel::Neon(_), Direction::Backward) => neon::run::<false>,
        (_, Direction::Forward) => generic::shuffle,
        (_, Direction::Backward) => generic::unshuffle,
    };
    // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of which
    // there are 2 of 2 bytes or more: above.
    unsafe { kernel(typesize, body, body_dest) };
}
