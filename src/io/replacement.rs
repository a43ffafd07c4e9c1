//! Replacing the contents of a plain file as a whole: the new contents are written to a temporary file in the same
//! directory, which is then renamed. Another process, and a reader after a crash, finds the old or the new contents.

use super::{OpenMode, native, paths};
use crate::err;
use crate::error::Result;
use crate::trace;
use std::ffi::CStr;
#[cfg(target_os = "linux")]
use std::ffi::CString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of names for a temporary file that are tried.
const NAME_ATTEMPTS: u32 = 100;

/// Writes a file that holds exactly `bytes`; an existing file is replaced. After an error, the file has its old
/// contents, or does not exist if it did not before.
///
/// The existing file is overwritten in place, without that guarantee, where a new file could not take its place: if it
/// has several names, is not a regular file, or belongs to another user or group, and if the directory cannot be
/// written.
///
/// With `is_synced`, the call waits until the file and its name are on disk.
///
/// Returns the new file, open for reading and writing; `None` if the existing file was overwritten.
///
/// # Errors
/// `FileOpen`, `FileWrite`.
pub(super) fn write_whole_file(path: &CStr, bytes: &[u8], is_synced: bool) -> Result<Option<File>> {
    // A link stays a link: the file that it names is replaced.
    let named = paths::as_path(path);
    let target = fs::canonicalize(named).unwrap_or_else(|_| named.to_owned());
    let old = fs::metadata(&target).ok();
    if let Some(old) = &old {
        if !old.is_file() || old.nlink() > 1 {
            return overwrite(path, bytes, is_synced).map(|()| None);
        }
        // A file that the process may not write is not replaced either.
        OpenOptions::new().write(true).open(&target).map_err(|error| err!(FileOpen, "{path:?}: {error}"))?;
    }
    let Some(new) = TemporaryFile::create(&target) else {
        return overwrite(path, bytes, is_synced).map(|()| None);
    };
    if old.as_ref().is_some_and(|old| !new.has_owner_of(old)) {
        return overwrite(path, bytes, is_synced).map(|()| None);
    }
    native::write_at(&new.file, 0, bytes)?;
    if is_synced {
        sync(&new.file)?;
    }
    let file = new.file.try_clone().ok();
    new.rename_to(&target, old, is_synced).map(|()| file)
}

/// Truncates the file and writes it.
fn overwrite(path: &CStr, bytes: &[u8], is_synced: bool) -> Result<()> {
    let file = native::open(path, OpenMode::Create)?;
    native::write_at(&file, 0, bytes)?;
    if is_synced { sync(&file) } else { Ok(()) }
}

/// Waits until the names in the directory of `file` are on disk.
///
/// # Errors
/// `FileOpen`, `FileWrite`.
pub(crate) fn sync_directory(file: &Path) -> Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let opened = File::open(directory);
    sync(&opened.map_err(|error| err!(FileOpen, "cannot open {}: {error}", directory.display()))?)
}

/// Waits until a file is on disk.
///
/// # Errors
/// `FileOpen`, `FileWrite`.
pub(crate) fn sync_file(path: &Path) -> Result<()> {
    let opened = File::open(path);
    sync(&opened.map_err(|error| err!(FileOpen, "cannot open {}: {error}", path.display()))?)
}

fn sync(file: &File) -> Result<()> {
    file.sync_all().map_err(|error| err!(FileWrite, "the file could not be written to disk: {error}"))
}

/// Creates a file in the directory of the file `beside`, and removes its name: the file exists until it is closed.
///
/// # Errors
/// `FileOpen`.
pub(crate) fn create_unnamed_file(beside: &Path) -> Result<File> {
    let failed = |error| err!(FileOpen, "no temporary file beside {}: {error}", beside.display());
    let created =
        TemporaryFile::create(beside).ok_or_else(|| failed(io::Error::other("it cannot be created")))?;
    // Dropping `created` removes the name.
    created.file.try_clone().map_err(failed)
}

/// A file beside the one that it will replace. Dropping it removes the file.
struct TemporaryFile {
    file: File,
    /// Empty once the file has replaced the other one.
    path: PathBuf,
}

impl TemporaryFile {
    /// Creates a file in the directory of `target`; `None` if none can be created there.
    fn create(target: &Path) -> Option<TemporaryFile> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for _ in 0..NAME_ATTEMPTS {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let mut name = target.file_name()?.to_owned();
            name.push(format!(".{}-{count}.tmp", std::process::id()));
            let path = target.with_file_name(name);
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Some(TemporaryFile { file, path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// Returns whether the file has the user and the group of `old`.
    fn has_owner_of(&self, old: &Metadata) -> bool {
        self.file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()))
    }

    /// Exchanges the names of the file and of the file at `target`, which must exist. Returns `false` if the file
    /// system does not support that. Renaming to an existing name writes the new file to disk at once on some file
    /// systems (ext4), which takes many times longer; exchanging does not.
    #[cfg(target_os = "linux")]
    fn exchange_with(&self, target: &Path) -> bool {
        let (Some(new), Some(old)) = (to_c_path(&self.path), to_c_path(target)) else { return false };
        // SAFETY: two C strings.
        let result = unsafe {
            libc::renameat2(libc::AT_FDCWD, new.as_ptr(), libc::AT_FDCWD, old.as_ptr(), libc::RENAME_EXCHANGE)
        };
        result == 0
    }

    #[cfg(not(target_os = "linux"))]
    fn exchange_with(&self, _target: &Path) -> bool {
        false
    }

    /// Gives the file the permissions of the old one, and renames it to `target`. With `is_synced`, waits until the
    /// name is on disk; if that fails, the old file gets its name again.
    fn rename_to(mut self, target: &Path, old: Option<Metadata>, is_synced: bool) -> Result<()> {
        let sync_name = || if is_synced { sync_directory(target) } else { Ok(()) };
        let place = self.path.display();
        let is_first = old.is_none();
        if let Some(old) = old {
            let set = self.file.set_permissions(old.permissions());
            set.map_err(|error| err!(FileWrite, "cannot set the permissions of {place}: {error}"))?;
            if self.exchange_with(target) {
                // Dropping `self` removes the old file, or, after an error, the new one.
                return sync_name().inspect_err(|_| {
                    self.exchange_with(target);
                });
            }
        }
        fs::rename(&self.path, target)
            .map_err(|error| err!(FileWrite, "cannot rename {place} to {}: {error}", target.display()))?;
        // The path is not that of a temporary file any more.
        self.path = PathBuf::new();
        match sync_name() {
            Err(error) if is_first => {
                let _ = fs::remove_file(target);
                Err(error)
            }
            Err(error) => {
                // The old file does not exist any more, so the change cannot be undone.
                trace::warning(|| format!("the new name {} may be lost: {error}", target.display()));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

#[cfg(target_os = "linux")]
fn to_c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty()
            && let Err(error) = fs::remove_file(&self.path)
        {
            trace::warning(|| format!("the temporary file {} stays: {error}", self.path.display()));
        }
    }
}
