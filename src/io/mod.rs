//! Moving bytes between memory and files, through the library's own back-ends or one of a program's.
//!
//! Owns what a file is to the rest of the library ([`Backend`], [`IoStream`]), the read handle that a frame keeps
//! ([`CachedReader`]), the lock between processes ([`FrameLock`]), the names of files ([`paths`]), and the table of
//! the back-ends that programs register ([`registry`]). Knows nothing of frames: what the bytes mean, and in which
//! order they are written, is decided above.
//!
//! Plain files (id 0) are read and written by position, without a `FILE` and without buffering; the exported stdio
//! functions, which have to offer a real `FILE`, have a core of their own in [`stdio`]. Mapped files (id 1) are
//! [`mmap`]; its state is a struct that C shares. A program's own back-end is called through `user`.

mod backend;
mod errno;
mod lent;
mod lock;
pub(crate) mod mmap;
mod mode;
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
pub(crate) use mode::{OpenMode, WriteShape};
pub(crate) use native::{Stamp, Stamped, stamp_at};
pub(crate) use reader::CachedReader;
pub(crate) use stream::{IoStream, resize};
