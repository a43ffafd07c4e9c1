//! Services of the operating system that the standard library does not provide, or not on every system.
//!
//! Each system has a folder with the same items: `unix` (Linux, macOS and other Unix systems, Emscripten), `windows` and
//! `wasi`. `posix` has those that Unix and WASI share, `absent` those that stand for missing services. Elsewhere only `abi`
//! depends on the operating system, for types of the C headers that differ: the test `tests/repository/systems.rs` forbids other `cfg` on it.

mod absent;
#[cfg(any(unix, windows))]
mod loader;
#[cfg(any(unix, target_os = "wasi"))]
mod posix;
mod types;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "wasi")]
mod wasi;
#[cfg(windows)]
mod windows;

#[cfg(any(unix, windows))]
pub(crate) use loader::OsLibrary;
pub(crate) use types::{FileStat, Map, MapHandle, MapKind, NO_MAP_HANDLE, Ownership, SymbolInfo, ThreadEnd};
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(target_os = "wasi")]
pub(crate) use wasi::*;
#[cfg(windows)]
pub(crate) use windows::*;

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;

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
