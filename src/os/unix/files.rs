//! Files: names, owners, the clock that stamps them.

use crate::os::posix::{open_to_sync, read_clock};
use crate::os::types::Ownership;
#[cfg(target_os = "linux")]
use std::ffi::CString;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Ownership {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Ownership { owner: (metadata.uid(), metadata.gid()), mode: metadata.mode() }
    }
}

/// Returns the time of the clock that stamps files, in seconds and nanoseconds; 0 if it cannot be read.
#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
pub(crate) fn file_clock_now() -> (i64, i64) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_REALTIME_COARSE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: libc::clockid_t = libc::CLOCK_REALTIME;
    let time = read_clock(CLOCK);
    (time.tv_sec as i64, time.tv_nsec as i64)
}

/// Starts writing the changed pages of a file to disk, and returns without waiting for the disk: a later `fdatasync` of
/// this file, or of others, has less left to do. This is not a synchronisation: neither the order of writes nor their
/// success is known afterwards, so errors are ignored; the `fdatasync` reports them.
#[cfg(target_os = "linux")]
pub(crate) fn start_write_back(file: &File) {
    // SAFETY: the descriptor is open. The call accesses no memory of the process. The length 0 stands for the end of the
    // file.
    unsafe {
        libc::sync_file_range(std::os::fd::AsRawFd::as_raw_fd(file), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Waits until the names in a directory are on disk.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    open_to_sync(directory)?.sync_all()
}

/// Exchanges the names of two files or directories.
///
/// # Errors
/// `Unsupported` where the file system cannot.
#[cfg(target_os = "linux")]
pub(crate) fn exchange_names(one: &Path, other: &Path) -> io::Result<()> {
    rename_with_flags(one, other, libc::RENAME_EXCHANGE)
}

/// Renames a file or a directory, unless the new name exists.
///
/// # Errors
/// `Unsupported` where the file system cannot.
#[cfg(target_os = "linux")]
pub(crate) fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    rename_with_flags(from, to, libc::RENAME_NOREPLACE)
}

/// Renames a file or a directory with the flags of the system call `renameat2`, for which old C libraries have no
/// function.
#[cfg(target_os = "linux")]
fn rename_with_flags(from: &Path, to: &Path, flags: libc::c_uint) -> io::Result<()> {
    let (from, to) = (c_string(from)?, c_string(to)?);
    // SAFETY: two C strings.
    let result = unsafe {
        libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags)
    };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EINVAL | libc::ENOSYS) => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(error),
    }
}

/// Returns a path as a C string. Does not end the process when memory runs out.
#[cfg(target_os = "linux")]
fn c_string(path: &Path) -> io::Result<CString> {
    let path = path.as_os_str().as_encoded_bytes();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(path.len() + 1).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.extend_from_slice(path);
    bytes.push(0);
    CString::from_vec_with_nul(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Returns the number of files that the process may have open; `None` if it is not limited.
#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
pub(crate) fn max_open_files() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a struct to be filled; it is unchanged if the call fails.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as u64)
}
