//! The calls of the C library that take or return file offsets, with 64 bits on every system.
//!
//! In the C library of GNU, the plain names have offsets of `long`: on 32-bit machines they fail for files of 2 GiB and
//! longer. On 64-bit machines the names with 64 are other names of the same functions.

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) use libc::{fopen, fseeko, fstat, ftello, ftruncate, off_t, pread, pwrite, pwritev, stat};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) use libc::{
    fopen64 as fopen, fseeko64 as fseeko, fstat64 as fstat, ftello64 as ftello, ftruncate64 as ftruncate,
    off64_t as off_t, pread64 as pread, pwrite64 as pwrite, pwritev64 as pwritev, stat64 as stat,
};
