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

use super::Direction;
use super::copy::copy;
use super::cpu::{self, SimdLevel};
use crate::tuning::tunable;
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

tunable! {
    /// Whether a shuffle and a bytedelta are one pass.
    #[cfg(target_arch = "x86_64")]
    const HAS_FUSED_BYTEDELTA: bool = true;
}

/// The largest element in bytes, and the smallest number of elements, that the kernels code with a bytedelta.
#[cfg(target_arch = "x86_64")]
const FUSED_LIMITS: (usize, usize) = (16, 64);

/// Returns whether the kernels of `level` can shuffle blocks of `len` bytes and code their streams with a bytedelta
/// (`filters.md` 8) in one pass.
pub(super) fn can_fuse_bytedelta(level: SimdLevel, typesize: usize, len: usize) -> bool {
    match level {
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2(_) | SimdLevel::Avx512(_) => {
            HAS_FUSED_BYTEDELTA.get()
                && (2..=FUSED_LIMITS.0).contains(&typesize)
                && len / typesize >= FUSED_LIMITS.1
        }
        _ => {
            let _ = (typesize, len);
            false
        }
    }
}

/// Shuffles like [`shuffle`], and replaces the bytes of each stream by their differences. [`can_fuse_bytedelta`] must
/// be true.
///
/// # Panics
/// If [`can_fuse_bytedelta`] is false, or if the lengths differ.
pub(super) fn shuffle_differences(level: SimdLevel, typesize: usize, src: &[u8], dest: &mut [u8]) {
    run_fused(level, Direction::Forward, typesize, src, dest);
}

/// Undoes [`shuffle_differences`].
///
/// # Panics
/// Like [`shuffle_differences`].
pub(super) fn unshuffle_sums(level: SimdLevel, typesize: usize, src: &[u8], dest: &mut [u8]) {
    run_fused(level, Direction::Backward, typesize, src, dest);
}

/// Runs the kernels of `level`.
fn run_fused(level: SimdLevel, direction: Direction, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a shuffle differ in length");
    assert!(
        can_fuse_bytedelta(level, typesize, src.len()),
        "level {} has no fused shuffle for `typesize` {typesize} and {} bytes",
        level.name(),
        src.len()
    );
    let (body, tail) = src.split_at(src.len() / typesize * typesize);
    let (body_dest, tail_dest) = dest.split_at_mut(body.len());
    tail_dest.copy_from_slice(tail);
    match (level, direction) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, and
        // `can_fuse_bytedelta` is true: above.
        (SimdLevel::Avx512(_), Direction::Forward) => unsafe {
            avx512::shuffle::<true>(typesize, body, body_dest)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, and
        // `can_fuse_bytedelta` is true: above.
        (SimdLevel::Avx512(_), Direction::Backward) => unsafe {
            avx512::unshuffle::<true>(typesize, body, body_dest)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, and
        // `can_fuse_bytedelta` is true: above.
        (SimdLevel::Avx2(_), Direction::Forward) => unsafe {
            avx2::shuffle::<true>(typesize, body, body_dest)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, and
        // `can_fuse_bytedelta` is true: above.
        (SimdLevel::Avx2(_), Direction::Backward) => unsafe {
            avx2::unshuffle::<true>(typesize, body, body_dest)
        },
        _ => unreachable!("level {} has no fused shuffle for {} bytes", level.name(), body_dest.len()),
    }
}

/// The largest items, in bytes, whose planes [`unshuffle_planes`] reads from separate addresses.
pub const MAX_PLANES: usize = 8;
/// The smallest number of elements for [`unshuffle_planes`].
#[cfg(target_arch = "x86_64")]
const MIN_PLANE_LEN: usize = 64;

/// Returns whether [`unshuffle_planes`] can produce a block of `len` bytes.
pub fn can_unshuffle_planes(typesize: usize, len: usize) -> bool {
    can_unshuffle_planes_at(cpu::level(), typesize, len)
}

fn can_unshuffle_planes_at(level: SimdLevel, typesize: usize, len: usize) -> bool {
    match level {
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2(_) | SimdLevel::Avx512(_) => {
            matches!(typesize, 2 | 4 | MAX_PLANES)
                && len.is_multiple_of(typesize)
                && len / typesize >= MIN_PLANE_LEN
        }
        _ => {
            let _ = (typesize, len);
            false
        }
    }
}

/// Unshuffles like [`unshuffle`] streams that need not be contiguous: `planes[j]` is stream `j`. This saves a copy of
/// streams that are already decoded elsewhere.
///
/// # Panics
/// If [`can_unshuffle_planes`] is false, or if the planes are not one for each byte of an item and of equal lengths.
pub fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    unshuffle_planes_at(cpu::level(), planes, dest);
}

/// Runs the kernels of `level`.
fn unshuffle_planes_at(level: SimdLevel, planes: &[&[u8]], dest: &mut [u8]) {
    let typesize = planes.len();
    assert!(
        can_unshuffle_planes_at(level, typesize, dest.len()),
        "level {} cannot unshuffle {typesize} planes to {} bytes",
        level.name(),
        dest.len()
    );
    assert!(
        planes.iter().all(|plane| plane.len() * typesize == dest.len()),
        "the planes differ in length, or are not {} bytes together",
        dest.len()
    );
    let mut pointers = [std::ptr::null(); MAX_PLANES];
    for (pointer, plane) in pointers.iter_mut().zip(planes) {
        *pointer = plane.as_ptr();
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions, the elements are enough, and so are the bytes
        // of each plane.
        SimdLevel::Avx512(_) => unsafe { avx512::unshuffle_planes(typesize, &pointers, dest) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has AVX2; elements and bytes of each plane are enough.
        SimdLevel::Avx2(_) => unsafe { avx2::unshuffle_planes(typesize, &pointers, dest) },
        _ => unreachable!("this level cannot unshuffle planes"),
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
    match (level, direction) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of
        // which there are 2 of 2 bytes or more: above.
        (SimdLevel::Avx512(_), Direction::Forward) => unsafe {
            avx512::shuffle::<false>(typesize, body, body_dest)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of
        // which there are 2 of 2 bytes or more: above.
        (SimdLevel::Avx512(_), Direction::Backward) => unsafe {
            avx512::unshuffle::<false>(typesize, body, body_dest)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of
        // which there are 2 of 2 bytes or more: above.
        (SimdLevel::Avx2(_), Direction::Forward) => unsafe {
            avx2::shuffle::<false>(typesize, body, body_dest)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of
        // which there are 2 of 2 bytes or more: above.
        (SimdLevel::Avx2(_), Direction::Backward) => unsafe {
            avx2::unshuffle::<false>(typesize, body, body_dest)
        },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of
        // which there are 2 of 2 bytes or more: above.
        (SimdLevel::Neon(_), Direction::Forward) => unsafe { neon::shuffle(typesize, body, body_dest) },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: the level proves that the machine has the instructions; the lengths are equal and whole elements, of
        // which there are 2 of 2 bytes or more: above.
        (SimdLevel::Neon(_), Direction::Backward) => unsafe { neon::unshuffle(typesize, body, body_dest) },
        (_, Direction::Forward) => generic::shuffle(typesize, body, body_dest),
        (_, Direction::Backward) => generic::unshuffle(typesize, body, body_dest),
    }
}
