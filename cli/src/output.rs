//! Files that are written: a temporary file next to the destination, which is renamed at the end, so that the
//! destination is the old file or the whole new one.

use crate::error::{Failure, WithPath};
use crate::os;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The temporary files and directories that exist now.
static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary_files() -> std::sync::MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a file or a directory of a super-chunk; a missing one is no error.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Sets what an interrupt (Ctrl-C, SIGTERM, SIGHUP) does: the temporary files are removed, and the process ends.
pub(crate) fn remove_temporary_files_on_interrupt() {
    // Without a handler, an interrupt leaves temporary files.
    let _ = ctrlc::set_handler(|| {
        // The lock is kept, so that no thread renames a file meanwhile.
        let files = temporary_files();
        for path in files.iter() {
            let _ = remove(path);
        }
        // As a shell reports the end by SIGINT.
        std::process::exit(130);
    });
}

/// A temporary path next to a destination. The file or directory there is created by the user of the path; it is removed
/// on drop, unless it was [committed](Self::commit).
pub(crate) struct TemporaryPath {
    path: PathBuf,
    destination: PathBuf,
}

impl TemporaryPath {
    /// Returns a path in the directory of `destination` at which nothing exists.
    pub(crate) fn new(destination: &Path) -> Result<TemporaryPath, Failure> {
        let name = destination
            .file_name()
            .ok_or_else(|| Failure::file(destination, "expected the name of a file"))?;
        let directory = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        // An interrupt waits until the file is in the list.
        let mut files = temporary_files();
        let file = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").tempfile_in(directory);
        // Only the name is used: the library creates the file itself.
        let path = file.with_path(destination)?.path().to_owned();
        files.insert(path.clone());
        Ok(TemporaryPath { path, destination: destination.to_owned() })
    }

    /// Returns the temporary path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file the mode and the times of `source`, for a new file of the same content.
    pub(crate) fn copy_metadata(&self, source: &Metadata) -> Result<(), Failure> {
        fs::set_permissions(&self.path, source.permissions()).with_path(&self.path)?;
        let (accessed, modified) = (
            filetime::FileTime::from_last_access_time(source),
            filetime::FileTime::from_last_modification_time(source),
        );
        filetime::set_file_times(&self.path, accessed, modified).with_path(&self.path)
    }

    /// Renames the file to its destination. An existing file is replaced if `replaces` is set; otherwise it is an error.
    pub(crate) fn commit(self, replaces: bool) -> Result<(), Failure> {
        let mut files = temporary_files();
        let renamed = if replaces || self.path.is_dir() {
            if self.path.is_dir() && self.destination.exists() {
                if !replaces {
                    return Err(exists_already(&self.destination));
                }
                remove(&self.destination).with_path(&self.destination)?;
            }
            fs::rename(&self.path, &self.destination)
        } else {
            // A link, unlike a renamed file, never replaces a file that appeared meanwhile.
            match fs::hard_link(&self.path, &self.destination) {
                Ok(()) => fs::remove_file(&self.path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(exists_already(&self.destination));
                }
                // A file system without links.
                Err(_) => fs::rename(&self.path, &self.destination),
            }
        };
        renamed.with_path(&self.destination)?;
        files.remove(&self.path);
        Ok(())
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        let mut files = temporary_files();
        if files.remove(&self.path) {
            // The error that ends the verb is reported.
            let _ = remove(&self.path);
        }
    }
}

fn exists_already(path: &Path) -> Failure {
    Failure::file(path, "exists already; --force overwrites it")
}

/// Checks that nothing exists at `path`, unless it may be overwritten.
pub(crate) fn check_destination(path: &Path, force: bool) -> Result<(), Failure> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists_already(path));
    }
    Ok(())
}

/// Checks that nothing exists at `path`, for verbs that never overwrite.
pub(crate) fn check_is_new(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() {
        return Err(Failure::file(path, "exists already"));
    }
    Ok(())
}

/// Returns stdout for binary data, which is an error for a terminal without `force`.
pub(crate) fn binary_stdout(force: bool) -> Result<File, Failure> {
    if io::stdout().is_terminal() && !force {
        return Err(Failure::usage("stdout is a terminal; --force writes binary data to it"));
    }
    os::stdout_file().map_err(|error| Failure::data(format!("stdout: {error}")))
}
