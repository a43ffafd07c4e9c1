//! The limits of a stream, which follow from its mode and meta byte.

/// What bounds the bits of a cell, in the terms of ZFP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Fewest bits; shorter cells are padded.
    pub(super) min_bits: u32,
    /// Most bits; never below the header's.
    pub(super) max_bits: u32,
    /// Most bit planes.
    pub(super) precision: u32,
    /// The lowest bit plane that matters, as a power of 2.
    pub(super) min_exponent: i32,
}
