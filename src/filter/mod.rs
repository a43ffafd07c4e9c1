//! The block filters of the format (`filters.md` 4 to 11) and their SIMD kernels.
//!
//! A filter is a plain function from one block to another of the same length: no contexts, no pipelines, no
//! allocation. The pipeline module decides which slot holds which filter, and the order in which filters are undone.
//!
//! The public functions use the instruction-set level of [`cpu`]; some have a variant with the suffix `_at` that takes
//! the level, so that tests and benchmarks reach every kernel.

pub mod bitshuffle;
pub(crate) mod bytedelta;
pub(crate) mod cells;
pub(crate) mod copy;
pub mod cpu;
pub mod delta;
pub(crate) mod int_trunc;
pub mod shuffle;
pub mod trunc_prec;

mod columns;
mod transpose;

#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

/// A function that shuffles blocks of elements of `typesize` bytes from a source to a destination of the same length.
type Kernel = unsafe fn(usize, &[u8], &mut [u8]);

#[cfg(test)]
mod model;
