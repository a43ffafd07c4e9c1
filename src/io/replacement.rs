//! Replacing the contents of a plain file as a whole: the new contents are written to a temporary file in the same
//! directory, which is then renamed. Another process, and a reader after a crash, finds the old or the new contents.

use super::{OpenMode, native, paths};
use crate::error::{Error, Result, err, os_err};
use crate::fallible;
use crate::os::{self, FileStat, Ownership};
use crate::trace;
use std::ffi::CStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file that holds exactly `bytes`; an existing file is replaced. After an error, the file has its old
/// contents, or does not exist if it did not before.
///
/// With `is_synced`, the call waits until the file and its name are on disk.
pub(super) fn write_whole_file(path: &CStr, bytes: &[u8], is_synced: bool) -> Result<()> {
    Replacement::prepare(path, bytes)?.commit(is_synced).map(drop)
}

/// The new contents of a file, before they take the place of the old ones. Dropping this value leaves the old contents.
pub(crate) enum Replacement<'a> {
    /// They are in a file beside `target`; `is_first` states that there is no file at `target`.
    Beside { new: TemporaryFile, target: PathBuf, is_first: bool },
    /// They will be written to the existing file, in place and thus not atomically, because a new file cannot take its
    /// place: it has several names, is not a regular file, or belongs to another user or group, or the process may not
    /// create files in the directory.
    InPlace { path: &'a CStr, bytes: &'a [u8] },
}

impl<'a> Replacement<'a> {
    /// Writes the new contents beside the file at `path`.
    ///
    /// # Errors
    /// `FileOpen` if the process may not write the existing file; `FileWrite`.
    pub(crate) fn prepare(path: &'a CStr, bytes: &'a [u8]) -> Result<Self> {
        let named = &*paths::as_path(path);
        let found = fs::symlink_metadata(named).ok();
        let (target, old) = match found {
            // A link stays a link: the file that it names is replaced.
            Some(link) if link.is_symlink() => {
                let target = fs::canonicalize(named).or_else(|error| match error.kind() {
                    io::ErrorKind::OutOfMemory => Err(err!(MemoryAlloc, "the target of {path:?}")),
                    _ => fallible::path(&[path.to_bytes()]),
                })?;
                let old = fs::metadata(&target).ok();
                (target, old)
            }
            found => (fallible::path(&[path.to_bytes()])?, found),
        };
        let in_place = Replacement::InPlace { path, bytes };
        if let Some(old) = &old {
            if !old.is_file() {
                return Ok(in_place);
            }
            // A file that the process may not write is not replaced either.
            let opened = OpenOptions::new().write(true).open(&target);
            let opened = opened.map_err(|error| os_err!(error, FileOpen, "{path:?}: {error}"))?;
            if FileStat::of(&opened).is_none_or(|found| found.link_count > 1) {
                return Ok(in_place);
            }
        }
        let Some(new) = TemporaryFile::create(&target)? else { return Ok(in_place) };
        if old.as_ref().is_some_and(|old| new.ownership.owner != Ownership::of(old).owner) {
            return Ok(in_place);
        }
        native::write_at(&new.file, 0, bytes)?;
        if let Some(old) = &old {
            new.set_permissions_of(old)?;
        }
        Ok(Replacement::Beside { new, target, is_first: old.is_none() })
    }

    /// Starts writing the new contents to disk, without waiting for it.
    pub(crate) fn start_write_back(&self) {
        if let Replacement::Beside { new, .. } = self {
            os::start_write_back(&new.file);
        }
    }

    /// Replaces the file, and waits until the new one and its name are on disk if `is_synced`. Returns the new file, opened for reading
    /// and writing; `None` if the existing one was overwritten.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`. The file has its old contents then, or does not exist if it did not before, unless it
    /// is overwritten in place.
    pub(crate) fn commit(self, is_synced: bool) -> Result<Option<File>> {
        match self {
            Replacement::InPlace { path, bytes } => overwrite(path, bytes, is_synced).map(|()| None),
            Replacement::Beside { new, target, is_first } => {
                if is_synced {
                    sync(&new.file)?;
                }
                new.rename_to(&target, is_first, is_synced).map(Some)
            }
        }
    }
}

/// Truncates the file and writes it.
fn overwrite(path: &CStr, bytes: &[u8], is_synced: bool) -> Result<()> {
    let file = native::open(path, OpenMode::Create)?;
    native::write_at(&file, 0, bytes)?;
    if is_synced { sync(&file) } else { Ok(()) }
}

/// Waits until the names in the directory of `file` are on disk.
pub(crate) fn sync_directory(file: &Path) -> Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    os::sync_directory(directory).map_err(|error| not_synced(directory, &error))
}

/// Waits until a file is on disk.
pub(crate) fn sync_file(path: &Path) -> Result<()> {
    os::sync_file(path).map_err(|error| not_synced(path, &error))
}

fn not_synced(path: &Path, error: &io::Error) -> Error {
    os_err!(error, FileWrite, "{} could not be written to disk: {error}", path.display())
}

fn sync(file: &File) -> Result<()> {
    file.sync_all()
        .map_err(|error| os_err!(error, FileWrite, "the file could not be written to disk: {error}"))
}

/// Creates a file in the directory of the file `beside`, and removes its name: the file exists until it is closed.
pub(crate) fn create_unnamed_file(beside: &Path) -> Result<File> {
    let created = TemporaryFile::create(beside)?;
    // Dropping the other fields removes the name.
    created
        .map(|created| created.file)
        .ok_or_else(|| err!(FileOpen, "the process may not create a file beside {}", beside.display()))
}

/// A file beside the one that it will replace. Dropping it removes the file.
pub(crate) struct TemporaryFile {
    name: TemporaryName,
    file: File,
    ownership: Ownership,
}

/// Renames `new` to `target`. Some file systems of Windows, and Wine, do not replace a file that is open, but rename it: there
/// the old file gets another name first, and there is no file at `target` for a short time.
fn replace(new: &Path, target: &Path) -> io::Result<()> {
    let denied = match fs::rename(new, target) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => error,
        done => return done,
    };
    let Ok(aside) = paths::temporary_path(target) else { return Err(denied) };
    if fs::rename(target, &aside).is_err() {
        return Err(denied);
    }
    let renamed = fs::rename(new, target);
    // The old file gets its name back, or is removed, which Windows does when it is closed.
    let _ = if renamed.is_err() { fs::rename(&aside, target) } else { fs::remove_file(&aside) };
    renamed
}

/// The path of a temporary file, which is removed on drop.
struct TemporaryName(PathBuf);

impl TemporaryFile {
    /// Creates a file in the directory of `target`; `None` if the process may not create files there, and if the name is
    /// too long.
    ///
    /// # Errors
    /// `FileOpen` for other reasons, such as a full disk or too many open files.
    fn create(target: &Path) -> Result<Option<TemporaryFile>> {
        if target.file_name().is_none() {
            return Ok(None);
        }
        for _ in 0..paths::TEMPORARY_NAME_ATTEMPTS {
            let path = paths::temporary_path(target)?;
            let failed =
                |error| os_err!(error, FileOpen, "cannot create a file beside {}: {error}", target.display());
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let name = TemporaryName(path);
                    let metadata = file.metadata().map_err(failed)?;
                    let ownership = Ownership::of(&metadata);
                    return Ok(Some(TemporaryFile { name, file, ownership }));
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::AlreadyExists => {}
                    io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::InvalidFilename => return Ok(None),
                    _ => return Err(failed(error)),
                },
            }
        }
        Ok(None)
    }

    /// Gives the file the permissions of `old`.
    fn set_permissions_of(&self, old: &Metadata) -> Result<()> {
        if self.ownership.mode != Ownership::of(old).mode {
            self.file.set_permissions(old.permissions()).map_err(|error| {
                os_err!(error, FileWrite, "cannot set the permissions of {}: {error}", self.name.0.display())
            })?;
        }
        Ok(())
    }

    /// Exchanges the names of the file and of the file at `target`, which must exist. Returns `false` if the file
    /// system does not support that. Renaming to an existing name writes the new file to disk at once on some file
    /// systems (ext4), which takes many times longer; exchanging does not.
    fn exchange_with(&self, target: &Path) -> bool {
        os::exchange_names(&self.name.0, target).is_ok()
    }

    /// Renames the file to `target`. With `is_synced`, waits until the name is on disk; if that fails, the old file
    /// gets its name again. `is_first` states that there is no old file.
    fn rename_to(mut self, target: &Path, is_first: bool, is_synced: bool) -> Result<File> {
        let sync_name = || if is_synced { sync_directory(target) } else { Ok(()) };
        if !is_first && self.exchange_with(target) {
            // Dropping the name removes the old file, or, after an error, the new one.
            sync_name().inspect_err(|_| {
                self.exchange_with(target);
            })?;
            return Ok(self.file);
        }
        let place = self.name.0.display();
        replace(&self.name.0, target).map_err(|error| {
            os_err!(error, FileWrite, "cannot rename {place} to {}: {error}", target.display())
        })?;
        // The path is not that of a temporary file any more.
        self.name.0 = PathBuf::new();
        match sync_name() {
            Err(error) if is_first => {
                let _ = fs::remove_file(target);
                return Err(error);
            }
            // The old file does not exist any more, so the change cannot be undone.
            Err(error) => {
                trace::warning(|| format!("the new name {} may be lost: {error}", target.display()));
            }
            Ok(()) => {}
        }
        Ok(self.file)
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty()
            && let Err(error) = fs::remove_file(&self.0)
        {
            trace::warning(|| format!("the temporary file {} stays: {error}", self.0.display()));
        }
    }
}
