//! Tuner ids (`abi.md` 5.4 and 5.6).

/// The library's own tuner.
pub const BLOSC_STUNE: i32 = 0;
/// One more than the highest id of the library's own tuners.
pub const BLOSC_LAST_TUNER: i32 = 1;
/// Highest id of the globally registered tuners; a historical value.
pub const BLOSC_LAST_REGISTERED_TUNE: i32 = 31;
/// Btune; in a plugin library.
pub const BLOSC_BTUNE: i32 = 32;
