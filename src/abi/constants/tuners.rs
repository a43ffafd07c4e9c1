//! Tuner ids (`abi.md` 5.4 and 5.6).

/// The library's own tuner.
pub const BLOSC_STUNE: i32 = 0;
/// One past the last id of the library's own tuners.
pub const BLOSC_LAST_TUNER: i32 = 1;
/// Last id of the globally registered tuners; historical.
pub const BLOSC_LAST_REGISTERED_TUNE: i32 = 31;
/// Btune; a plugin library.
pub const BLOSC_BTUNE: i32 = 32;
