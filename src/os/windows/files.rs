//! Files: access by position, properties, names, and the clock that stamps them.

use super::errors::check;
use crate::os::types::{FileStat, Ownership};
use std::borrow::Cow;
use std::ffi::{CStr, OsString, c_void};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, IoSlice};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::Globalization::{CP_ACP, MultiByteToWideChar};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS, FileBasicInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, MOVEFILE_WRITE_THROUGH, MoveFileExW,
    UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::SystemInformation::GetSystemTimePreciseAsFileTime;

impl Ownership {
    /// Returns whether the file is read-only: a new file inherits owner and permissions of its directory.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Ownership { owner: (0, 0), mode: metadata.permissions().readonly().into() }
    }
}

/// Converts the bytes of a C string to a path: UTF-8, or else the ANSI code page of the process.
pub(crate) fn path_from_c(path: &CStr) -> Cow<'_, Path> {
    match path.to_str() {
        Ok(path) => Cow::Borrowed(Path::new(path)),
        Err(_) => Cow::Owned(path_from_ansi(path.to_bytes())),
    }
}

/// Converts bytes to a path: UTF-8, or else the ANSI code page of the process.
pub(crate) fn path_from_vec(path: Vec<u8>) -> PathBuf {
    String::from_utf8(path).map_or_else(|error| path_from_ansi(error.as_bytes()), PathBuf::from)
}

fn path_from_ansi(bytes: &[u8]) -> PathBuf {
    let len = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    // One byte gives at most one unit of UTF-16.
    let mut units = vec![0u16; bytes.len()];
    // SAFETY: `len` readable bytes, and as many writable units.
    let count = unsafe { MultiByteToWideChar(CP_ACP, 0, bytes.as_ptr(), len, units.as_mut_ptr(), len) };
    OsString::from_wide(&units[..usize::try_from(count).unwrap_or(0)]).into()
}

/// Converts a path for a function of Windows: UTF-16 and a NUL.
pub(super) fn wide(path: &Path) -> io::Result<Vec<u16>> {
    // The standard library makes long paths absolute; they then begin with `\\?\`.
    let path = if path.as_os_str().len() < 240 { Cow::Borrowed(path) } else { verbatim(path)?.into() };
    let mut units: Vec<u16> = path.as_os_str().encode_wide().collect();
    if units.contains(&0) {
        return Err(ErrorKind::InvalidInput.into());
    }
    units.push(0);
    Ok(units)
}

fn verbatim(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    if absolute.as_os_str().as_encoded_bytes().starts_with(br"\\") {
        return Ok(absolute);
    }
    let mut verbatim = OsString::from(r"\\?\");
    verbatim.push(absolute);
    Ok(verbatim.into())
}

/// Reads bytes from `position` on. Returns their number: 0 only at the end of the file, or for an empty `dest`.
pub(crate) fn read_at(file: &File, dest: &mut [u8], position: u64) -> io::Result<usize> {
    file.seek_read(dest, position)
}

/// Writes the first of `parts` that is not empty from `position` on. Returns the number of bytes.
pub(crate) fn write_vectored_at(file: &File, parts: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
    parts.iter().find(|part| !part.is_empty()).map_or(Ok(0), |part| file.seek_write(part, position))
}

/// The number of seconds from 1601, with which times of Windows begin, to 1970.
const SECONDS_TO_1970: i64 = 11_644_473_600;
/// The unit of times of Windows, in nanoseconds.
const TICK_NS: i64 = 100;
const TICKS_PER_SECOND: i64 = 1_000_000_000 / TICK_NS;

/// Returns the seconds since 1970 and the nanoseconds of a time of Windows.
fn time_from_ticks(ticks: i64) -> (i64, i64) {
    (ticks.div_euclid(TICKS_PER_SECOND) - SECONDS_TO_1970, ticks.rem_euclid(TICKS_PER_SECOND) * TICK_NS)
}

fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn ticks(time: FILETIME) -> i64 {
    join(time.dwHighDateTime, time.dwLowDateTime) as i64
}

impl FileStat {
    /// Returns the properties of an open file; `None` when its handle was closed.
    pub(crate) fn of(file: &File) -> Option<FileStat> {
        let mut found = BY_HANDLE_FILE_INFORMATION::default();
        // SAFETY: a handle and a struct to be filled.
        if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut found) } == 0 {
            return None;
        }
        let mut basic = FILE_BASIC_INFO::default();
        let basic_len = size_of::<FILE_BASIC_INFO>() as u32;
        let place = (&raw mut basic).cast::<c_void>();
        // SAFETY: a handle, and a struct of that length to be filled.
        let has_basic =
            unsafe { GetFileInformationByHandleEx(file.as_raw_handle(), FileBasicInfo, place, basic_len) }
                != 0;
        let modified = time_from_ticks(ticks(found.ftLastWriteTime));
        Some(FileStat {
            identity: (found.dwVolumeSerialNumber.into(), join(found.nFileIndexHigh, found.nFileIndexLow)),
            size: join(found.nFileSizeHigh, found.nFileSizeLow),
            link_count: found.nNumberOfLinks.into(),
            modified,
            changed: if has_basic { time_from_ticks(basic.ChangeTime) } else { modified },
        })
    }

    /// Returns the properties of the file at `path`, following links; `None` when there is none.
    pub(crate) fn at(path: &CStr) -> Option<FileStat> {
        // No access to the content: the file can be opened whatever other handles exclude. The flag admits directories.
        let mut options = OpenOptions::new();
        let options = options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        options.open(path_from_c(path)).ok().as_ref().and_then(FileStat::of)
    }
}

/// Returns the time of the clock that stamps files, in seconds and nanoseconds.
pub(crate) fn file_clock_now() -> (i64, i64) {
    let mut now = FILETIME::default();
    // SAFETY: a struct to be filled.
    unsafe { GetSystemTimePreciseAsFileTime(&mut now) };
    time_from_ticks(ticks(now))
}

/// Opens a file for [`File::sync_all`], which needs write access.
pub(crate) fn open_to_sync(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Returns whether `file` is open, and has that number in its volume. Wine reports another volume for a file that was renamed
/// while it is open.
pub(crate) fn has_identity(file: &File, identity: (u64, u64)) -> bool {
    FileStat::of(file).is_some_and(|found| found.identity.1 == identity.1)
}

/// Whether a directory can be renamed while a file in it is open.
pub(crate) const RENAMES_DIRECTORIES_IN_USE: bool = false;

/// Renames a file or a directory, unless the new name exists, and waits until the name is on disk.
pub(crate) fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    // Wine renames a directory in which a file is open. Tests in Wine get the error of Windows.
    if cfg!(any(test, debug_assertions)) && has_open_files(from) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: two strings that end with NUL.
    check(unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_WRITE_THROUGH) } != 0)
}

/// Returns whether a file of a directory is open in a process: it cannot be opened without sharing then.
fn has_open_files(directory: &Path) -> bool {
    let is_open = |file: &Path| OpenOptions::new().read(true).share_mode(0).open(file).is_err();
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    files.into_iter().any(|file| is_open(&file.path()))
}

/// Releases the lock that [`File::lock`] or a similar function of the standard library has acquired. Not
/// [`File::unlock`], which expects an error code that Wine does not return.
pub(crate) fn unlock_file(file: &File) -> io::Result<()> {
    // SAFETY: the struct is plain data; 0 is the position at which the standard library locks all bytes.
    unsafe {
        let mut position = std::mem::zeroed::<OVERLAPPED>();
        check(UnlockFileEx(file.as_raw_handle(), 0, u32::MAX, u32::MAX, &mut position) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_with_an_open_file_is_not_renamed() {
        let dir = std::env::temp_dir().join(format!("blosc2-renamed-{}", std::process::id()));
        let (from, to) = (dir.join("from"), dir.join("to"));
        std::fs::create_dir_all(&from).unwrap();
        let file = File::create(from.join("file")).unwrap();
        let renamed = rename_without_replacing(&from, &to);
        assert_eq!(renamed.unwrap_err().kind(), ErrorKind::PermissionDenied);
        drop(file);
        rename_without_replacing(&from, &to).unwrap();
        std::fs::remove_dir_all(dir).unwrap();
    }
}
