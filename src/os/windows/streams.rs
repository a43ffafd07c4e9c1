//! The `FILE` of the C library.

use super::errors::check;
use super::files::{path_from_c, wide};
use std::ffi::{CStr, c_int, c_void};
use std::io::{self, IoSlice};
use std::mem::ManuallyDrop;
use std::os::windows::io::{FromRawHandle, RawHandle};
use std::{fs::File, ptr};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_END_OF_FILE_INFO, FileEndOfFileInfo, SetFileInformationByHandle,
};

unsafe extern "C" {
    fn _wfopen(path: *const u16, mode: *const u16) -> *mut libc::FILE;
    fn _fseeki64(stream: *mut libc::FILE, offset: i64, origin: c_int) -> c_int;
    fn _ftelli64(stream: *mut libc::FILE) -> i64;
}

/// Opens a `FILE` of the C library; NULL and `errno` for an error.
pub(crate) fn open_stream(path: &CStr, mode: &CStr) -> *mut libc::FILE {
    let Ok(path) = wide(&path_from_c(path)) else { return ptr::null_mut() };
    let mode: Vec<u16> = mode.to_bytes_with_nul().iter().map(|&byte| byte.into()).collect();
    // SAFETY: two strings that end with NUL.
    unsafe { _wfopen(path.as_ptr(), mode.as_ptr()) }
}

/// Returns the length of the file in bytes, including unwritten bytes of its buffer; -1 for an error. The position of the
/// stream is unchanged.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn stream_len(stream: *mut libc::FILE) -> i64 {
    // SAFETY: by the contract `stream` is open.
    unsafe {
        let before = _ftelli64(stream);
        if before < 0 || _fseeki64(stream, 0, libc::SEEK_END) != 0 {
            return -1;
        }
        let len = _ftelli64(stream);
        if _fseeki64(stream, before, libc::SEEK_SET) != 0 { -1 } else { len }
    }
}

/// Returns the file of a stream, which stays open.
///
/// # Safety
/// `stream` is open, also for the lifetime of the result.
pub(super) unsafe fn file_of(stream: *mut libc::FILE) -> ManuallyDrop<File> {
    // SAFETY: guaranteed by the caller; the handle is not closed.
    ManuallyDrop::new(unsafe {
        File::from_raw_handle(libc::get_osfhandle(libc::fileno(stream)) as RawHandle)
    })
}

/// Returns the length in bytes of the file of a stream.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn len_of_stream_file(stream: *mut libc::FILE) -> io::Result<u64> {
    // SAFETY: guaranteed by the caller.
    unsafe { file_of(stream) }.metadata().map(|found| found.len())
}

/// Reads up to `len` bytes at `position` of a stream, without its buffer. Returns the number of bytes; -1 for an error.
///
/// # Safety
/// `stream` is open; `len` bytes at `dest` can be written.
pub(crate) unsafe fn read_stream_at(
    stream: *mut libc::FILE,
    dest: *mut c_void,
    len: usize,
    position: i64,
) -> isize {
    // SAFETY: guaranteed by the caller. The memory may be uninitialised, and is only written.
    let (file, dest) = unsafe { (file_of(stream), std::slice::from_raw_parts_mut(dest.cast::<u8>(), len)) };
    super::files::read_at(&file, dest, position as u64).map_or(-1, |n| n as isize)
}

/// Writes up to `len` bytes at `position` of a stream, without its buffer. Returns the number of bytes; -1 for an error.
///
/// # Safety
/// `stream` is open; `len` bytes at `bytes` can be read.
pub(crate) unsafe fn write_stream_at(
    stream: *mut libc::FILE,
    bytes: *const c_void,
    len: usize,
    position: i64,
) -> isize {
    // SAFETY: guaranteed by the caller.
    let (file, bytes) = unsafe { (file_of(stream), std::slice::from_raw_parts(bytes.cast::<u8>(), len)) };
    super::files::write_vectored_at(&file, &[IoSlice::new(bytes)], position as u64).map_or(-1, |n| n as isize)
}

/// Sets the length of the file of a stream.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn truncate_stream(stream: *mut libc::FILE, len: i64) -> io::Result<()> {
    let new = FILE_END_OF_FILE_INFO { EndOfFile: len };
    let new_len = size_of::<FILE_END_OF_FILE_INFO>() as u32;
    // SAFETY: the handle of an open file (guaranteed by the caller), and a struct of that length.
    check(unsafe {
        let handle = libc::get_osfhandle(libc::fileno(stream)) as RawHandle;
        SetFileInformationByHandle(handle, FileEndOfFileInfo, (&raw const new).cast(), new_len) != 0
    })
}
