//! The core of the exported stdio functions: a `FILE` of the C library, which plug-ins may access, read and written by
//! position, bypassing its buffer (`frame.md` 5.3). The library does not use this module for its own files.

use crate::abi::blosc2_stdio_file;
use crate::error::{Result, ensure, err, os_err};
use crate::os;
use std::ffi::{CStr, c_void};
use std::io;

/// Opens a file with `fopen`. The returned struct is allocated with `malloc`; [`close`] frees it.
pub(crate) fn open(path: &CStr, mode: &CStr) -> Result<*mut blosc2_stdio_file> {
    let file = os::open_stream(path, mode);
    if file.is_null() {
        return Err(err!(FileOpen, "cannot open {path:?} in mode {mode:?}: {}", io::Error::last_os_error()));
    }
    // SAFETY: `malloc` accepts any size.
    let stream: *mut blosc2_stdio_file = unsafe { libc::malloc(size_of::<blosc2_stdio_file>()) }.cast();
    if stream.is_null() {
        // SAFETY: open, and closed once.
        unsafe { libc::fclose(file) };
        return Err(err!(MemoryAlloc, "cannot allocate a stream for {path:?}"));
    }
    // SAFETY: fresh memory of that size.
    unsafe { stream.write(blosc2_stdio_file { file }) };
    Ok(stream)
}

/// Closes the file and frees the struct, also after an error.
///
/// # Safety
/// `stream` came from [`open`], is closed once, and its file is open.
pub(crate) unsafe fn close(stream: *mut blosc2_stdio_file) -> Result<()> {
    // SAFETY: by the contract the struct is one that `open` made, and its file is open.
    let closed = unsafe { libc::fclose((*stream).file) };
    let closed = match closed {
        0 => Ok(()),
        _ => Err(err!(FileWrite, "cannot close the file: {}", io::Error::last_os_error())),
    };
    // SAFETY: `open` allocated the struct with `malloc`, and by the contract it is closed once.
    unsafe { libc::free(stream.cast()) };
    closed
}

/// Returns the length of the file in bytes, including unwritten bytes of its buffer. The file position is unchanged.
///
/// # Safety
/// `file` is open.
pub(crate) unsafe fn size(file: *mut libc::FILE) -> Result<i64> {
    // SAFETY: by the contract `file` is open.
    let size = unsafe { os::stream_len(file) };
    ensure!(size >= 0, FileRead, "cannot determine the size of the file: {}", io::Error::last_os_error());
    Ok(size)
}

/// The maximum number of bytes per system call.
const MAX_TRANSFER_LEN: usize = 1 << 30;

/// Calls `transfer(done, len)` until `len` bytes are transferred, or a call fails or transfers none. Returns the number
/// of transferred bytes.
fn transfer(len: usize, mut transfer: impl FnMut(usize, usize) -> isize) -> usize {
    let mut done = 0;
    while done < len {
        match usize::try_from(transfer(done, (len - done).min(MAX_TRANSFER_LEN))) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    done
}

/// Writes up to `len` bytes at `position`. Returns the number of written bytes.
///
/// # Safety
/// `file` is open; there are `len` readable bytes at `bytes`; `position` is not negative.
pub(crate) unsafe fn write(file: *mut libc::FILE, bytes: *const c_void, len: usize, position: i64) -> usize {
    transfer(len, |done, more| {
        let Some(position) = position.checked_add(done as i64) else { return 0 };
        // SAFETY: by the contract the file is open, and `len` bytes at `bytes` can be read; `done + more` is at most `len`.
        unsafe { os::write_stream_at(file, bytes.byte_add(done), more, position) }
    })
}

/// Reads up to `len` bytes at `position`. Returns the number of read bytes.
///
/// # Safety
/// `file` is open; there are `len` writable bytes at `bytes`; `position` is not negative.
pub(crate) unsafe fn read(file: *mut libc::FILE, bytes: *mut c_void, len: usize, position: i64) -> usize {
    transfer(len, |done, more| {
        let Some(position) = position.checked_add(done as i64) else { return 0 };
        // SAFETY: by the contract the file is open, and `len` bytes at `bytes` can be written; `done + more` is at most
        // `len`.
        unsafe { os::read_stream_at(file, bytes.byte_add(done), more, position) }
    })
}

/// Truncates or extends the file to `len` bytes.
///
/// # Safety
/// `file` is open.
pub(crate) unsafe fn truncate(file: *mut libc::FILE, len: i64) -> Result<()> {
    // SAFETY: by the contract `file` is open.
    unsafe { os::truncate_stream(file, len) }
        .map_err(|error| os_err!(error, FileTruncate, "cannot set the length of the file to {len}: {error}"))
}
