//! Transfer of bytes between memory and files, through the library's own back-ends or one of the program.
//!
//! Provides files for the rest of the library ([`Backend`], [`IoStream`]), the cached read handle of a frame
//! ([`CachedReader`]), the replacement of a whole file ([`replacement`]), files that get their name when they are complete
//! ([`new_files`]), the lock between processes ([`FrameLock`]),
//! paths ([`paths`]), and the table of the back-ends that programs register ([`backend_registry`]). This module does
//! not depend on frames: its callers define the meaning of the bytes and the order of writes.
//!
//! Plain files of the operating system, without mapping and callbacks (id 0), are called native. They are read and
//! written by position, without a `FILE` and without buffering. The exported stdio functions, which must provide a
//! `FILE` of the C library, are implemented separately in [`stdio`]. Mapped files (id 1) are in [`mmap`]; their state
//! is a struct that C code shares. Back-ends of the program are called through `user`, files of Rust code through [`source`].

mod backend;
pub(crate) mod backend_registry;
mod borrowed_bytes;
mod errno;
mod lock;
pub(crate) mod mmap;
mod mode;
mod native;
pub(crate) mod new_files;
pub(crate) mod paths;
mod reader;
pub(crate) mod replacement;
pub(crate) mod source;
pub(crate) mod stdio;
mod stream;
#[cfg(test)]
pub(crate) mod tests;
mod user;

pub(crate) use backend::Backend;
pub(crate) use borrowed_bytes::BorrowedBytes;
pub(crate) use lock::{FrameLock, FrameLockGuard};
pub(crate) use mode::{OpenMode, WriteUnit};
pub(crate) use native::{FileStamp, FileVersion, ObservedStamp, read_file_stamp};
pub(crate) use reader::{CachedReader, ReadHandle};
pub(crate) use stream::{IoStream, try_resize};
