//! Functions that Unix and WASI share: files by position, the `FILE` of the C library, paths and clocks.

use super::types::FileStat;
use std::borrow::Cow;
use std::ffi::{CStr, OsStr, OsString, c_int, c_void};
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The calls whose offsets have 64 bits on every processor.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod calls {
    pub(super) use libc::{
        fopen64 as fopen, fseeko64 as fseeko, fstat64 as fstat, ftello64 as ftello, ftruncate64 as ftruncate,
        off64_t as off_t, pread64 as pread, pwrite64 as pwrite, pwritev64 as pwritev, stat64 as stat,
    };
}
/// The calls of systems whose `off_t` always has 64 bits.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod calls {
    pub(super) use libc::{fopen, fseeko, fstat, ftello, ftruncate, off_t, pread, pwrite, pwritev, stat};
}

/// Returns whether `file` is open, and has that identity.
pub(crate) fn has_identity(file: &File, identity: (u64, u64)) -> bool {
    FileStat::of(file).is_some_and(|found| found.identity == identity)
}

/// Whether a directory can be renamed while a file in it is open.
pub(crate) const RENAMES_DIRECTORIES_IN_USE: bool = true;

/// A point in time, of which only differences are meaningful: `struct timespec`.
pub(crate) type Timestamp = libc::timespec;

/// Returns the time of a monotonic clock.
pub(crate) fn monotonic_now() -> Timestamp {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Returns the time between two points in nanoseconds; negative if `end` is earlier.
pub(crate) fn elapsed_nanoseconds(start: Timestamp, end: Timestamp) -> f64 {
    let seconds = (end.tv_sec - start.tv_sec) as f64;
    let nanoseconds = (end.tv_nsec - start.tv_nsec) as f64;
    1e9 * seconds + nanoseconds
}

/// Returns the time of a clock; 0 if it cannot be read.
pub(super) fn read_clock(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a struct to be filled; it is unchanged if the call fails.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time
}

/// Converts the bytes of a C string to a path.
pub(crate) fn path_from_c(path: &CStr) -> Cow<'_, Path> {
    // SAFETY: on these systems every sequence of bytes is a path.
    Cow::Borrowed(Path::new(unsafe { OsStr::from_encoded_bytes_unchecked(path.to_bytes()) }))
}

/// Converts bytes to a path.
pub(crate) fn path_from_vec(path: Vec<u8>) -> PathBuf {
    // SAFETY: on these systems every sequence of bytes is a path.
    unsafe { OsString::from_encoded_bytes_unchecked(path) }.into()
}

/// Limit for the bytes of one call: macOS rejects 2 GiB and more.
const MAX_TRANSFER_LEN: usize = 1 << 30;

/// Reads bytes from `position` on. Returns their number: 0 only at the end of the file, or for an empty `dest`.
pub(crate) fn read_at(file: &File, dest: &mut [u8], position: u64) -> io::Result<usize> {
    let len = dest.len().min(MAX_TRANSFER_LEN);
    // SAFETY: writable memory of that length.
    transferred(unsafe { calls::pread(file.as_raw_fd(), dest.as_mut_ptr().cast(), len, offset(position)?) })
}

/// Writes the beginning of `parts`, one behind the other, from `position` on. Returns the number of bytes.
pub(crate) fn write_vectored_at(file: &File, parts: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
    let (descriptor, position) = (file.as_raw_fd(), offset(position)?);
    let len = parts.iter().fold(0, |len: usize, part| len.saturating_add(part.len()));
    // The function `pwritev` of Emscripten 3.1.6 writes all parts to the same place.
    if parts.len() > 1 && len <= MAX_TRANSFER_LEN && !cfg!(target_os = "emscripten") {
        // SAFETY: an `IoSlice` has the layout of an `iovec`; there are `parts.len()` of them, each for readable memory.
        return transferred(unsafe {
            calls::pwritev(descriptor, parts.as_ptr().cast(), parts.len() as c_int, position)
        });
    }
    let Some(part) = parts.first() else { return Ok(0) };
    let len = part.len().min(MAX_TRANSFER_LEN);
    // SAFETY: readable memory of that length.
    transferred(unsafe { calls::pwrite(descriptor, part.as_ptr().cast(), len, position) })
}

fn offset(position: u64) -> io::Result<calls::off_t> {
    position.try_into().map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn transferred(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Returns the properties of the file at `path`, or of the open file if the path is empty, where `stat` cannot: its times
/// have 32 bits in the default ABI of glibc for 32-bit processors, and it fails for files that were changed after 2038.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "32"))]
fn stat_with_long_times(descriptor: c_int, path: &CStr) -> Option<FileStat> {
    let flags = if path.is_empty() { libc::AT_EMPTY_PATH } else { 0 };
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: a NUL-terminated string, and a struct to be filled. Old C libraries have no function for the system call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_statx,
            descriptor,
            path.as_ptr(),
            flags,
            libc::STATX_BASIC_STATS,
            found.as_mut_ptr(),
        )
    };
    if result != 0 {
        return None;
    }
    // SAFETY: integers, which the system has written.
    let found = unsafe { found.assume_init() };
    let time = |time: libc::statx_timestamp| (time.tv_sec, i64::from(time.tv_nsec));
    Some(FileStat {
        identity: (libc::makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino),
        size: found.stx_size,
        link_count: found.stx_nlink.into(),
        modified: time(found.stx_mtime),
        changed: time(found.stx_ctime),
    })
}

/// Returns `None`: `stat` has times of 64 bits.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "32")))]
fn stat_with_long_times(_: c_int, _: &CStr) -> Option<FileStat> {
    None
}

impl FileStat {
    /// Returns the properties of an open file; `None` when its descriptor was closed.
    pub(crate) fn of(file: &File) -> Option<FileStat> {
        if let Some(found) = stat_with_long_times(file.as_raw_fd(), c"") {
            return Some(found);
        }
        // SAFETY: any descriptor number is allowed, and `place` is a struct to be filled.
        FileStat::read(|place| unsafe { calls::fstat(file.as_raw_fd(), place) })
    }

    /// Returns the properties of the file at `path`, following links; `None` when there is none.
    pub(crate) fn at(path: &CStr) -> Option<FileStat> {
        if let Some(found) = stat_with_long_times(libc::AT_FDCWD, path) {
            return Some(found);
        }
        // SAFETY: a NUL-terminated string, and a struct to be filled.
        FileStat::read(|place| unsafe { calls::stat(path.as_ptr(), place) })
    }

    #[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
    fn read(stat: impl FnOnce(*mut calls::stat) -> c_int) -> Option<FileStat> {
        let mut found = MaybeUninit::<calls::stat>::zeroed();
        if stat(found.as_mut_ptr()) != 0 {
            return None;
        }
        // SAFETY: integers, for which zero is valid even if `stat` does not fill the struct.
        let found = unsafe { found.assume_init() };
        #[cfg(unix)]
        let (modified, changed) = (
            (found.st_mtime as i64, found.st_mtime_nsec as i64),
            (found.st_ctime as i64, found.st_ctime_nsec as i64),
        );
        #[cfg(not(unix))]
        let (modified, changed) = (
            (found.st_mtim.tv_sec as i64, found.st_mtim.tv_nsec as i64),
            (found.st_ctim.tv_sec as i64, found.st_ctim.tv_nsec as i64),
        );
        Some(FileStat {
            identity: (found.st_dev as u64, found.st_ino as u64),
            size: u64::try_from(found.st_size).unwrap_or(0),
            link_count: found.st_nlink as u64,
            modified,
            changed,
        })
    }
}

/// Releases the lock of a file.
pub(crate) fn unlock_file(file: &File) -> io::Result<()> {
    file.unlock()
}

/// Opens a file, or a directory, for [`File::sync_all`].
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a `FILE` of the C library; NULL and `errno` for an error.
pub(crate) fn open_stream(path: &CStr, mode: &CStr) -> *mut libc::FILE {
    // SAFETY: two NUL-terminated strings.
    unsafe { calls::fopen(path.as_ptr(), mode.as_ptr()) }
}

/// Returns the length of the file in bytes, including unwritten bytes of its buffer; -1 for an error. The position of the
/// stream is unchanged.
///
/// # Safety
/// `stream` is open.
#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
pub(crate) unsafe fn stream_len(stream: *mut libc::FILE) -> i64 {
    // SAFETY: by the contract `stream` is open.
    unsafe {
        let before = calls::ftello(stream);
        if before < 0 || calls::fseeko(stream, 0, libc::SEEK_END) != 0 {
            return -1;
        }
        let len = calls::ftello(stream);
        if calls::fseeko(stream, before, libc::SEEK_SET) != 0 { -1 } else { len as i64 }
    }
}

/// Returns the length in bytes of the file of a stream.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn len_of_stream_file(stream: *mut libc::FILE) -> io::Result<u64> {
    // SAFETY: by the contract `stream` is open.
    let fd = unsafe { libc::fileno(stream) };
    // SAFETY: any descriptor number is allowed, and `place` is a struct to be filled.
    FileStat::read(|place| unsafe { calls::fstat(fd, place) })
        .map(|found| found.size)
        .ok_or_else(io::Error::last_os_error)
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
    // SAFETY: guaranteed by the caller.
    unsafe { calls::pread(libc::fileno(stream), dest, len, position) }
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
    unsafe { calls::pwrite(libc::fileno(stream), bytes, len, position) }
}

/// Sets the length of the file of a stream.
///
/// # Safety
/// `stream` is open.
pub(crate) unsafe fn truncate_stream(stream: *mut libc::FILE, len: i64) -> io::Result<()> {
    // SAFETY: by the contract `stream` is open.
    match unsafe { calls::ftruncate(libc::fileno(stream), len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
