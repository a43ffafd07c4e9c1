//! Special values and split modes (`abi.md` 5.6).

/// An ordinary chunk.
pub const BLOSC2_NO_SPECIAL: i32 = 0;
/// A chunk of zeros.
pub const BLOSC2_SPECIAL_ZERO: i32 = 1;
/// A chunk of NaNs.
pub const BLOSC2_SPECIAL_NAN: i32 = 2;
/// A chunk that repeats one value.
pub const BLOSC2_SPECIAL_VALUE: i32 = 3;
/// A chunk of unspecified content.
pub const BLOSC2_SPECIAL_UNINIT: i32 = 4;
/// The last kind of special chunk.
pub const BLOSC2_SPECIAL_LASTID: i32 = 4;
/// Bits that hold the kind, after a shift.
pub const BLOSC2_SPECIAL_MASK: i32 = 7;
/// Split every block into one stream per byte of an item.
pub const BLOSC_ALWAYS_SPLIT: i32 = 1;
/// One stream per block.
pub const BLOSC_NEVER_SPLIT: i32 = 2;
/// Split where it helps the codec.
pub const BLOSC_AUTO_SPLIT: i32 = 3;
/// Split as Blosc 1 readers expect it.
pub const BLOSC_FORWARD_COMPAT_SPLIT: i32 = 4;
