//! Moving bytes between memory and files, through the library's own back-ends or one of a program's.
//!
//! Owns what a file is to the rest of the library ([`Backend`], [`Stream`]), the read handle that a frame keeps
//! ([`CachedReader`]), the lock between processes ([`FrameLock`]), the names of files ([`paths`]), and the table of
//! the back-ends that programs register ([`registry`]). Knows nothing of frames: what the bytes mean, and in which
//! order they are written, is decided above.
//!
//! Plain files (id 0) are read and written by position, without a `FILE` and without buffering; the exported stdio
//! functions, which have to offer a real `FILE`, have a core of their own in [`stdio`]. Mapped files (id 1) are
//! [`mmap`]; its state is a struct that C shares. A program's own back-end is called through `user`.

mod backend;
mod errno;
mod lock;
pub(crate) mod mmap;
mod native;
pub(crate) mod paths;
mod reader;
pub(crate) mod registry;
pub(crate) mod stdio;
mod stream;
#[cfg(test)]
mod tests;
mod user;

pub(crate) use backend::Backend;
pub(crate) use lock::{FrameLock, Locked};
pub(crate) use native::{Stamp, Stamped, stamp_at};
pub(crate) use reader::CachedReader;
pub(crate) use stream::{Stream, resize};

use std::ffi::CStr;

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpenMode {
    /// `rb`: reading a file that exists.
    Read,
    /// `rb+`: reading and writing a file that exists.
    Update,
    /// `wb`: writing a file that is created, or cut to nothing.
    Create,
    /// `ab`: writing behind what a file has; it is created if need be. Positions are given as everywhere else.
    Append,
}

impl OpenMode {
    /// As `fopen` and a program's `open` spell it (`frame.md` 5.2).
    pub(crate) const fn as_c_str(self) -> &'static CStr {
        match self {
            OpenMode::Read => c"rb",
            OpenMode::Update => c"rb+",
            OpenMode::Create => c"wb",
            OpenMode::Append => c"ab",
        }
    }
}

/// How a write is told to a program's `write`, which can see it (`frame.md` 5.2). The library's own back-ends do
/// not care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteShape {
    /// `size = 1, nitems = length`: payloads, indexes, trailers.
    Bytes,
    /// `size = length, nitems = 1`: whole headers and whole frames. No bytes are `(NULL, 0, 1)`.
    Item,
}
