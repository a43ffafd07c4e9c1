//! Ids of I/O back-ends and of data type formats (`abi.md` 5.6).

/// The back-end for plain files, with read and write calls.
pub const BLOSC2_IO_FILESYSTEM: i32 = 0;
/// The back-end for memory-mapped files.
pub const BLOSC2_IO_FILESYSTEM_MMAP: i32 = 1;
/// One more than the highest id of the library's own back-ends.
pub const BLOSC_IO_LAST_BLOSC_DEFINED: i32 = 2;
/// One more than the highest id of the globally registered back-ends.
pub const BLOSC_IO_LAST_REGISTERED: i32 = 32;
/// Ids below this one are reserved for the library.
pub const BLOSC2_IO_BLOSC_DEFINED: i32 = 32;
/// Ids below this one are reserved for global registration; programs register back-ends with ids from this one on.
pub const BLOSC2_IO_REGISTERED: i32 = 160;
/// One more than the highest id that a program can register.
pub const BLOSC2_IO_USER_DEFINED: i32 = 256;
/// Format of a `dtype` string: NumPy's.
pub const DTYPE_NUMPY_FORMAT: i32 = 0;
/// The data type in the `b2nd` metalayer if none is given: bytes.
pub const B2ND_DEFAULT_DTYPE: &str = "|u1";
/// The format of `B2ND_DEFAULT_DTYPE`.
pub const B2ND_DEFAULT_DTYPE_FORMAT: i32 = DTYPE_NUMPY_FORMAT;
