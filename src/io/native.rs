//! Positional I/O on plain files: all bytes are transferred, also when the system transfers fewer in one call or a
//! signal interrupts it. No function moves the file's own position, so any number of threads may use one handle.

use super::{OpenMode, paths};
use crate::error::{Result, os_err};
use crate::os::{self, FileStat};
use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IoSlice};

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
    options.open(paths::as_path(path)).map_err(|error| {
        os_err!(error, FileOpen, "cannot open {path:?} in mode {:?}: {error}", mode.as_c_str())
    })
}

/// Returns the identity of the file, device and inode number; `None` when the descriptor was closed.
///
/// Uses `fstat`, the fastest of the system's calls for this, since every read of a frame calls this function
/// (`frame.md` 5.4).
pub(super) fn identity(file: &File) -> Option<(u64, u64)> {
    FileStat::of(file).map(|found| found.identity)
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
    pub(super) fn of_open_file(file: &File) -> Option<FileVersion> {
        FileStat::of(file).map(|FileStat { identity, modified, .. }| FileVersion { identity, modified })
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
pub(crate) fn read_file_stamp(path: &CStr) -> Option<ObservedStamp> {
    let nanoseconds = |(s, ns): (i64, i64)| i128::from(s) * 1_000_000_000 + i128::from(ns);
    // Read before the file's times, so that a later change has a later stamp. If the clock cannot be read, the time is 0 and
    // no stamp counts as settled.
    let now = nanoseconds(os::file_clock_now());
    let FileStat { identity, size, modified, changed, .. } = FileStat::at(path)?;
    let times = [modified, changed];
    let is_coarse = times.iter().all(|&(_, ns)| ns == 0);
    let tick = if is_coarse { COARSE_CLOCK_TICK_NS } else { CLOCK_TICK_NS };
    Some(ObservedStamp {
        stamp: FileStamp { identity, size, times },
        is_settled: times.iter().all(|&time| now - nanoseconds(time) > tick),
        is_recent: times.iter().any(|&time| now - nanoseconds(time) <= RECENT_NS),
    })
}

/// Reads bytes from `position` on into `dest`: `min` or more, if the file has them. Returns their number.
///
/// # Errors
/// `FileRead`.
#[inline(always)]
pub(super) fn read_at(file: &File, position: u64, dest: &mut [u8], min: usize) -> Result<usize> {
    let mut done = 0;
    while done < min.min(dest.len()) {
        match os::read_at(file, &mut dest[done..], position.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(os_err!(
                    error,
                    FileRead,
                    "cannot read {} bytes at {position}: {error}",
                    dest.len()
                ));
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
    os::write_all_at(file, bytes, position).map_err(|error| {
        os_err!(error, FileWrite, "cannot write {} bytes at {position}: {error}", bytes.len())
    })
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
        os::write_all_vectored_at(file, &mut slices[..group.len()], position).map_err(|error| {
            os_err!(error, FileWrite, "cannot write {} parts at {position}: {error}", group.len())
        })?;
        position += group.iter().map(|part| part.len() as u64).sum::<u64>();
    }
    Ok(())
}
