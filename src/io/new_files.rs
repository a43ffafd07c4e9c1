//! The file or the directory of a new frame, which has a temporary name until it is complete.

use super::paths;
use super::replacement::sync_directory;
use crate::error::{Result, err, os_err};
use crate::os;
use crate::trace;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An empty file or directory under a temporary name beside its destination, and what is written to it. Dropping it
/// removes it, unless it was published.
pub(crate) struct NewFiles {
    temporary: PathBuf,
    destination: PathBuf,
    is_published: bool,
}

impl NewFiles {
    /// Creates an empty file, or an empty directory, beside `destination`. Returns `None` where a file cannot get that
    /// name later: a temporary name would be too long, or `destination` is a link to a file that does not exist.
    ///
    /// # Errors
    /// `FileOpen` if `destination` exists, or nothing can be created beside it.
    pub(crate) fn create(destination: PathBuf, is_directory: bool) -> Result<Option<NewFiles>> {
        match destination.symlink_metadata() {
            Ok(found) if found.is_symlink() && !destination.exists() => return Ok(None),
            Ok(_) => return Err(err!(FileOpen, "{} exists already", destination.display())),
            Err(_) => {}
        }
        for _ in 0..paths::TEMPORARY_NAME_ATTEMPTS {
            let temporary = paths::temporary_path(&destination)?;
            let created = match is_directory {
                true => fs::create_dir(&temporary),
                false => OpenOptions::new().write(true).create_new(true).open(&temporary).map(drop),
            };
            match created {
                Ok(()) => return Ok(Some(NewFiles { temporary, destination, is_published: false })),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::InvalidFilename => return Ok(None),
                Err(error) => {
                    return Err(os_err!(error, FileOpen, "cannot create {}: {error}", temporary.display()));
                }
            }
        }
        Err(err!(FileOpen, "no unused temporary name beside {}", destination.display()))
    }

    pub(crate) fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file or the directory its name. With `is_synced`, waits until the name is on disk; what is in the files
    /// must be there before.
    ///
    /// # Errors
    /// `FileOpen` if something has that name by now, `FileWrite` if the name cannot be written to disk.
    pub(crate) fn publish(&mut self, is_synced: bool) -> Result<()> {
        let destination = self.destination.as_path();
        rename_without_replacing(&self.temporary, destination)
            .map_err(|error| os_err!(error, FileOpen, "cannot create {}: {error}", destination.display()))?;
        if is_synced && let Err(error) = sync_directory(&self.destination) {
            // The caller reports that the frame was not created.
            let _ = fs::rename(&self.destination, &self.temporary);
            return Err(error);
        }
        self.is_published = true;
        Ok(())
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        if self.is_published {
            return;
        }
        let removed = match self.temporary.is_dir() {
            true => fs::remove_dir_all(&self.temporary),
            false => fs::remove_file(&self.temporary),
        };
        if let Err(error) = removed {
            trace::warning(|| format!("the temporary files {} stay: {error}", self.temporary.display()));
        }
    }
}

/// Renames a file or a directory, unless the new name exists.
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match os::rename_without_replacing(from, to) {
        Err(error) if error.kind() == ErrorKind::Unsupported => link_or_rename(from, to),
        done => done,
    }
}

/// As [`rename_without_replacing`], for file systems without that call.
pub(super) fn link_or_rename(from: &Path, to: &Path) -> io::Result<()> {
    // A link fails if the name exists. Directories have none, and some file systems neither.
    match fs::hard_link(from, to) {
        Ok(()) => return fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        Err(_) if to.symlink_metadata().is_ok() => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => {}
    }
    fs::rename(from, to)
}
