//! Filter ids (`abi.md` 5.4 and 5.5).

/// No shuffle.
pub const BLOSC_NOSHUFFLE: i32 = 0;
/// No filter in this slot.
pub const BLOSC_NOFILTER: i32 = 0;
/// Byte shuffle.
pub const BLOSC_SHUFFLE: i32 = 1;
/// Bit shuffle.
pub const BLOSC_BITSHUFFLE: i32 = 2;
/// XOR with the first block of the chunk.
pub const BLOSC_DELTA: i32 = 3;
/// Truncation of floating-point precision, items of 4 or 8 bytes. The meta byte is the number of mantissa bits to
/// keep (positive) or to set to zero (negative).
pub const BLOSC_TRUNC_PREC: i32 = 4;
/// One more than the highest id of a built-in filter of the format.
pub const BLOSC_LAST_FILTER: i32 = 5;
/// Highest id of the globally registered filters.
pub const BLOSC_LAST_REGISTERED_FILTER: i32 = 36;
/// Reorders the items of an array's block cell by cell. The meta byte is the side of a cell in items.
pub const BLOSC_FILTER_NDCELL: i32 = 32;
/// Replaces the items of each cell by their mean. The meta byte is the side of a cell in items.
pub const BLOSC_FILTER_NDMEAN: i32 = 33;
/// The first version of bytedelta; only for reading old data.
pub const BLOSC_FILTER_BYTEDELTA_BUGGY: i32 = 34;
/// Difference between neighbouring bytes of a shuffled stream.
pub const BLOSC_FILTER_BYTEDELTA: i32 = 35;
/// Truncation of integer precision, items of 1, 2, 4 or 8 bytes. The meta byte is the number of bits to keep
/// (positive) or to set to zero (negative).
pub const BLOSC_FILTER_INT_TRUNC: i32 = 36;
