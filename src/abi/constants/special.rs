//! Special values and split modes (`abi.md` 5.6).

/// Not a special chunk.
pub const BLOSC2_NO_SPECIAL: i32 = 0;
/// A chunk of zeros.
pub const BLOSC2_SPECIAL_ZERO: i32 = 1;
/// A chunk of NaNs.
pub const BLOSC2_SPECIAL_NAN: i32 = 2;
/// A chunk that repeats one value.
pub const BLOSC2_SPECIAL_VALUE: i32 = 3;
/// A chunk of unspecified content; decompressing it does not write to the destination.
pub const BLOSC2_SPECIAL_UNINIT: i32 = 4;
/// The highest kind of special chunk.
pub const BLOSC2_SPECIAL_LASTID: i32 = 4;
/// Mask of the bits that hold the kind of special chunk, after shifting the flags byte.
pub const BLOSC2_SPECIAL_MASK: i32 = 7;
/// Always split a block into one stream per byte of an item.
pub const BLOSC_ALWAYS_SPLIT: i32 = 1;
/// Never split: one stream per block.
pub const BLOSC_NEVER_SPLIT: i32 = 2;
/// Split the blocks for codecs that compress split blocks better.
pub const BLOSC_AUTO_SPLIT: i32 = 3;
/// Split the blocks as readers of Blosc 1 expect.
pub const BLOSC_FORWARD_COMPAT_SPLIT: i32 = 4;
