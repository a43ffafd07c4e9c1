//! The limits of a stream, which follow from its mode and meta byte.

/// The limits of the bits of a cell, in the terms of ZFP.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellLimits {
    /// The smallest number of bits; shorter cells are padded.
    pub(super) min_bits: u32,
    /// The largest number of bits; never below the header's.
    pub(super) max_bits: u32,
    /// The largest number of bit planes.
    pub(super) precision: u32,
    /// The lowest significant bit plane, as a power of 2.
    pub(super) min_exponent: i32,
}
