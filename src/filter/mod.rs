//! The block filters of the format and their SIMD kernels.
