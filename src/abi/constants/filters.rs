//! Filter ids (`abi.md` 5.4 and 5.5).

/// No shuffle.
pub const BLOSC_NOSHUFFLE: i32 = 0;
/// No filter in this slot.
pub const BLOSC_NOFILTER: i32 = 0;
/// Byte shuffle.
pub const BLOSC_SHUFFLE: i32 = 1;
/// Bit shuffle.
pub const BLOSC_BITSHUFFLE: i32 = 2;
/// Difference to the first block of the chunk.
pub const BLOSC_DELTA: i32 = 3;
/// Truncation of floating-point precision; the meta byte counts the bits.
pub const BLOSC_TRUNC_PREC: i32 = 4;
/// One past the last id of a filter in this library's own set.
pub const BLOSC_LAST_FILTER: i32 = 5;
/// Last id of the globally registered filters.
pub const BLOSC_LAST_REGISTERED_FILTER: i32 = 36;
/// Reorders an array's block cell by cell.
pub const BLOSC_FILTER_NDCELL: i32 = 32;
/// Replaces the items of each cell by their mean.
pub const BLOSC_FILTER_NDMEAN: i32 = 33;
/// The first bytedelta; only for reading old data.
pub const BLOSC_FILTER_BYTEDELTA_BUGGY: i32 = 34;
/// Difference between neighbouring bytes of a shuffled stream.
pub const BLOSC_FILTER_BYTEDELTA: i32 = 35;
/// Truncation of integer precision.
pub const BLOSC_FILTER_INT_TRUNC: i32 = 36;
