//! Positional I/O on plain files: all bytes are transferred, also when the system transfers fewer in one call or a
//! signal interrupts it. No function moves the file's own position, so any number of threads may use one handle.

use super::{OpenMode, large_files, paths};
use crate::err;
use crate::error::Result;
use std::ffi::{CStr, c_int};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Opens a file. A new file has the permissions 0666 minus the umask.
///
/// # Errors
/// `FileOpen`.
pub(super) fn open(path: &CStr, mode: OpenMode) -> Result<File> {
    let mut options = OpenOptions::new();
    match mode {
        OpenMode::Read => options.read(true),
        OpenMode::Update => options.read(true).write(true),
        OpenMode::Create => options.write(true).create(true).truncate(true),
        // Not O_APPEND: that would make Linux ignore the positions of writes.
        OpenMode::Append => options.write(true).create(true).truncate(false),
    };
    options
        .open(paths::as_path(path))
        .map_err(|error| err!(FileOpen, "cannot open {path:?} in mode {:?}: {error}", mode.as_c_str()))
}

/// Returns the identity of the file, device and inode number; `None` when the descriptor was closed.
///
/// Uses `fstat`, the fastest of the system's calls for this, since every read of a frame calls this function
/// (`frame.md` 5.4).
pub(super) fn identity(file: &File) -> Option<(u64, u64)> {
    identity_with(|place| {
        // SAFETY: any descriptor number is allowed, and `place` is a struct to be filled.
        unsafe { large_files::fstat(file.as_raw_fd(), place) }
    })
}

/// The properties of a file at a path by which a change of the file is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// Device and inode number.
    pub identity: (u64, u64),
    /// Length in bytes.
    pub size: u64,
    /// Time of the last change of the content, and of the last change of the inode: seconds and nanoseconds.
    times: [(i64, i64); 2],
}

/// The identity of a file, and the time of the last change of its content. Unlike the other properties, both stay the
/// same when the file gets another name. The number of a removed file can be that of a newer file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    /// Device and inode number.
    pub identity: (u64, u64),
    modified: (i64, i64),
}

impl FileVersion {
    /// Returns the version of an open file; `None` when the descriptor was closed.
    #[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
    pub(super) fn of_open_file(file: &File) -> Option<FileVersion> {
        let found = stat_with(|place| {
            // SAFETY: any descriptor number is allowed, and `place` is a struct to be filled.
            unsafe { large_files::fstat(file.as_raw_fd(), place) }
        })?;
        Some(FileVersion {
            identity: (found.st_dev as u64, found.st_ino as u64),
            modified: (found.st_mtime as i64, found.st_mtime_nsec as i64),
        })
    }
}

impl FileStamp {
    /// Returns the part of the stamp that does not depend on the name of the file.
    pub(crate) fn version(&self) -> FileVersion {
        FileVersion { identity: self.identity, modified: self.times[0] }
    }
}

/// The stamp of a file, and whether it detects every later change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedStamp {
    /// The stamp.
    pub stamp: FileStamp,
    /// Whether every change from now on gives another stamp. A change in the same tick of the file system's clock as
    /// the last change does not.
    pub is_settled: bool,
    /// Whether the file was changed less than a second ago.
    pub is_recent: bool,
}

/// Upper bound, in nanoseconds, for a tick of the clock that stamps files.
const CLOCK_TICK_NS: i128 = 20_000_000;
/// The age, in nanoseconds, of a change after which another change during the next read is unlikely.
const RECENT_NS: i128 = 1_000_000_000;
/// Upper bound, in nanoseconds, for file systems that store whole seconds.
const COARSE_CLOCK_TICK_NS: i128 = 3_000_000_000;

/// Returns the stamp of the file that is at `path` now, following links; `None` when there is none.
#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
pub(crate) fn read_file_stamp(path: &CStr) -> Option<ObservedStamp> {
    let nanoseconds = |(s, ns): (i64, i64)| i128::from(s) * 1_000_000_000 + i128::from(ns);
    // Read before the file's times, so that a later change has a later stamp.
    let now = nanoseconds(file_clock_now());
    let found = stat_with(|place| {
        // SAFETY: a NUL-terminated string, and a struct to be filled.
        unsafe { large_files::stat(path.as_ptr(), place) }
    })?;
    let times = [
        (found.st_mtime as i64, found.st_mtime_nsec as i64),
        (found.st_ctime as i64, found.st_ctime_nsec as i64),
    ];
    let is_coarse = times.iter().all(|&(_, ns)| ns == 0);
    let tick = if is_coarse { COARSE_CLOCK_TICK_NS } else { CLOCK_TICK_NS };
    Some(ObservedStamp {
        stamp: FileStamp {
            identity: (found.st_dev as u64, found.st_ino as u64),
            size: u64::try_from(found.st_size).unwrap_or(0),
            times,
        },
        is_settled: times.iter().all(|&time| now - nanoseconds(time) > tick),
        is_recent: times.iter().any(|&time| now - nanoseconds(time) <= RECENT_NS),
    })
}

/// Returns the time of the clock that stamps files, in seconds and nanoseconds.
#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
fn file_clock_now() -> (i64, i64) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_REALTIME_COARSE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: libc::clockid_t = libc::CLOCK_REALTIME;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a struct to be filled. If the call fails, the time is 0 and no stamp counts as settled.
    unsafe { libc::clock_gettime(CLOCK, &mut time) };
    (time.tv_sec as i64, time.tv_nsec as i64)
}

#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
fn identity_with(stat: impl FnOnce(*mut large_files::stat) -> c_int) -> Option<(u64, u64)> {
    stat_with(stat).map(|found| (found.st_dev as u64, found.st_ino as u64))
}

fn stat_with(stat: impl FnOnce(*mut large_files::stat) -> c_int) -> Option<large_files::stat> {
    let mut found = MaybeUninit::<large_files::stat>::zeroed();
    if stat(found.as_mut_ptr()) != 0 {
        return None;
    }
    // SAFETY: integers, for which zero is valid even if `stat` does not fill the struct.
    Some(unsafe { found.assume_init() })
}

/// Reads bytes from `position` on into `dest`: `min` or more, if the file has them. Returns their number.
///
/// # Errors
/// `FileRead`.
pub(super) fn read_at(file: &File, position: u64, dest: &mut [u8], min: usize) -> Result<usize> {
    let mut done = 0;
    while done < min.min(dest.len()) {
        match file.read_at(&mut dest[done..], position.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(err!(FileRead, "cannot read {} bytes at {position}: {error}", dest.len()));
            }
        }
    }
    Ok(done)
}

/// Writes all bytes.
///
/// # Errors
/// `FileWrite`.
pub(super) fn write_at(file: &File, position: u64, bytes: &[u8]) -> Result<()> {
    file.write_all_at(bytes, position)
        .map_err(|error| err!(FileWrite, "cannot write {} bytes at {position}: {error}", bytes.len()))
}

/// Writes all parts, one behind the other, in as few calls as the system allows.
///
/// # Errors
/// `FileWrite`.
pub(super) fn write_vectored_at(file: &File, mut position: u64, parts: &[&[u8]]) -> Result<()> {
    const MAX_SLICES: usize = 16;
    for group in parts.chunks(MAX_SLICES) {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        for (slice, part) in slices.iter_mut().zip(group) {
            *slice = IoSlice::new(part);
        }
        let mut left = &mut slices[..group.len()];
        // Skips empty parts, so that no call is made for them.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            let nparts = left.len();
            let written = write_some_at(file, position, left)
                .map_err(|error| err!(FileWrite, "cannot write {nparts} parts at {position}: {error}"))?;
            position += written as u64;
            IoSlice::advance_slices(&mut left, written);
        }
    }
    Ok(())
}

/// Starts writing the changed pages of a file to disk, and returns without waiting for the disk: a later `fdatasync` of
/// this file, or of others, has less left to do. Does nothing where the system has no call for that. This is not a
/// synchronisation: neither the order of writes nor their success is known afterwards, so errors are ignored; the
/// `fdatasync` reports them.
pub(super) fn start_write_back(file: &File) {
    #[cfg(target_os = "linux")]
    // SAFETY: the descriptor is open. The call accesses no memory of the process.
    unsafe {
        // The length 0 stands for the end of the file.
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Writes the beginning of the parts, at least one byte. Returns the number of bytes.
fn write_some_at(file: &File, position: u64, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    let position = large_files::off_t::try_from(position).map_err(|_| ErrorKind::InvalidInput)?;
    loop {
        // SAFETY: an `IoSlice` has the layout of an `iovec`, there are `parts.len()` of them, each for readable memory,
        // and the descriptor is open.
        let written = unsafe {
            large_files::pwritev(file.as_raw_fd(), parts.as_ptr().cast(), parts.len() as c_int, position)
        };
        match usize::try_from(written) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => return Ok(written),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}
