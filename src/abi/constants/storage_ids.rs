//! Ids of I/O back-ends and of dtype formats (`abi.md` 5.6).

/// Files, read and written.
pub const BLOSC2_IO_FILESYSTEM: i32 = 0;
/// Files, mapped into memory.
pub const BLOSC2_IO_FILESYSTEM_MMAP: i32 = 1;
/// One past the last id of the library's own back-ends.
pub const BLOSC_IO_LAST_BLOSC_DEFINED: i32 = 2;
/// One past the last id of the globally registered back-ends.
pub const BLOSC_IO_LAST_REGISTERED: i32 = 32;
/// Ids below belong to the library.
pub const BLOSC2_IO_BLOSC_DEFINED: i32 = 32;
/// Ids below are registered globally; a program's own begin here.
pub const BLOSC2_IO_REGISTERED: i32 = 160;
/// Ids below may be registered by a program.
pub const BLOSC2_IO_USER_DEFINED: i32 = 256;
/// A dtype string in NumPy's form.
pub const DTYPE_NUMPY_FORMAT: i32 = 0;
/// The dtype of an array that names none: bytes.
pub const B2ND_DEFAULT_DTYPE: &str = "|u1";
/// The format of that dtype.
pub const B2ND_DEFAULT_DTYPE_FORMAT: i32 = DTYPE_NUMPY_FORMAT;
