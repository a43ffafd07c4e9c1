//! Services of the operating system that the standard library does not provide, or not on every system.
//!
//! Each system has a folder with the same items: `unix` (Linux, macOS and other Unix systems, Emscripten), `windows` and
//! `wasi`. `posix` has those that Unix and WASI share. No other module of the library depends on the operating system: the
//! test `tests/repository/systems.rs` forbids `cfg` on it elsewhere.

#[cfg(any(unix, target_os = "wasi"))]
mod posix;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "wasi")]
mod wasi;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(target_os = "wasi")]
pub(crate) use wasi::*;
#[cfg(windows)]
pub(crate) use windows::*;

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;

/// The properties of a file that the system reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileStat {
    /// Device, or volume, and number of the file in it.
    pub identity: (u64, u64),
    /// Length in bytes.
    pub size: u64,
    /// Number of names of the file.
    pub link_count: u64,
    /// Time of the last change of the content, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Time of the last change of the content or the properties, in seconds and nanoseconds.
    pub changed: (i64, i64),
}

/// The type of a symbol of a loaded library, and its size in bytes; 0 if unknown.
pub(crate) struct SymbolInfo {
    pub size: usize,
    pub is_function: bool,
    pub is_data: bool,
}

/// The use of a file that is mapped into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapKind {
    /// The pages of the file are read.
    Read,
    /// The pages of the file are read and written.
    Write,
    /// The pages of the file are read; changes stay in memory.
    Private,
}

/// A file that is mapped into memory.
#[derive(Clone, Copy)]
pub(crate) struct Map {
    pub addr: *mut u8,
    /// Length in bytes.
    pub len: usize,
    /// Number of bytes at the beginning, in whole pages, that are pages of the file; behind them is anonymous memory. Only
    /// maintained for [`MapKind::Private`].
    pub file_backed_len: usize,
    /// The system's handle of the mapping.
    pub handle: MapHandle,
}

/// Reads all of `dest` from `position` on. No function of this module moves the file's own position, so any number of
/// threads may use one file.
///
/// # Errors
/// `UnexpectedEof` if the file ends before.
pub(crate) fn read_exact_at(file: &File, mut dest: &mut [u8], mut position: u64) -> io::Result<()> {
    while !dest.is_empty() {
        match read_at(file, dest, position) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                dest = &mut dest[n..];
                position += n as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes from `position` on.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    write_all_vectored_at(file, &mut [IoSlice::new(bytes)], position)
}

/// Writes all parts, one behind the other, in as few calls as the system allows.
pub(crate) fn write_all_vectored_at(
    file: &File,
    mut parts: &mut [IoSlice<'_>],
    mut position: u64,
) -> io::Result<()> {
    // Skips empty parts, so that no call is made for them.
    IoSlice::advance_slices(&mut parts, 0);
    while !parts.is_empty() {
        match write_vectored_at(file, parts, position) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => {
                position += n as u64;
                IoSlice::advance_slices(&mut parts, n);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until a file is on disk.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    open_to_sync(path)?.sync_all()
}
