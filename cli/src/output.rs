//! Files that are written: a temporary file next to the destination, which is renamed at the end, so that the
//! destination is the old file or the whole new one.

use crate::error::{Failure, WithPath};
use crate::os;
use crate::remote;
use crate::source;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The directories of temporary files that exist now.
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

/// Sets the effect of an interrupt (Ctrl-C, SIGTERM, SIGHUP): the temporary files are removed, and the process ends.
pub(crate) fn remove_temporary_files_on_interrupt() {
    os::on_interrupt(|| {
        // While the process ends, no thread renames or creates a file.
        let files = temporary_files();
        files.iter().for_each(|directory| remove_temporary_directory(directory));
        files
    });
}

/// Removes a directory in which the library may create a file at the same time; in a removed one it cannot.
fn remove_temporary_directory(directory: &Path) {
    while remove(directory).is_err_and(|error| error.kind() == io::ErrorKind::DirectoryNotEmpty) {}
}

/// The paths of temporary files, and their names for users.
static NAMES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Adds the name of a temporary file for users.
pub(crate) fn name_temporary_file(path: &Path, name: &str) {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.push((path.display().to_string(), name.to_owned()));
}

/// Returns a message in which the paths of temporary files are replaced by their names for users.
pub(crate) fn with_final_names(message: &str) -> String {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    // A file in a temporary directory follows the directory.
    names.iter().rev().fold(message.to_owned(), |message, (path, name)| message.replace(path, name))
}

/// A temporary path in a new directory next to a destination, which no other user can read; that of a URL is in the system's
/// temporary directory. The file or directory there is created by the user of the path; it is
/// removed on drop, unless it was [committed](Self::commit).
pub(crate) struct TemporaryPath {
    directory: PathBuf,
    path: PathBuf,
    destination: PathBuf,
}

impl TemporaryPath {
    /// Returns a path in the directory of `destination` at which nothing exists.
    pub(crate) fn new(destination: &Path) -> Result<TemporaryPath, Failure> {
        let name = destination
            .file_name()
            .ok_or_else(|| Failure::file(destination, "expected the name of a file"))?;
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        // An interrupt waits until the directory is in the list.
        let mut files = temporary_files();
        let mut builder = tempfile::Builder::new();
        os::make_private(builder.prefix(&prefix).suffix(".tmp"));
        let parent = match remote::is_url(destination) {
            true => std::env::temp_dir(),
            false => directory_of(destination).to_owned(),
        };
        let directory = builder.tempdir_in(parent).with_path(destination)?.keep();
        files.insert(directory.clone());
        let path = directory.join("output");
        name_temporary_file(&path, &destination.display().to_string());
        Ok(TemporaryPath { directory, path, destination: destination.to_owned() })
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

    /// Renames the file to its destination, or uploads it. An existing file is replaced if `replaces` is set; otherwise it is an error.
    /// If `is_durable` is set, the new file survives a loss of power.
    pub(crate) fn commit(self, replaces: bool, is_durable: bool) -> Result<(), Failure> {
        if remote::is_url(&self.destination) {
            // An interrupt does not wait for an upload, which leaves nothing then.
            return match remote::upload(&self.path, &self.destination, replaces) {
                Err(error) if !replaces && error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(exists_already(&self.destination))
                }
                uploaded => uploaded.with_path(&self.destination),
            };
        }
        if is_durable {
            sync_all(&self.path).with_path(&self.path)?;
        }
        let mut files = temporary_files();
        let renamed = if replaces || self.path.is_dir() {
            if self.path.is_dir() && self.destination.exists() {
                if !replaces {
                    return Err(exists_already(&self.destination));
                }
                self.replace_directory()
            } else {
                fs::rename(&self.path, &self.destination)
            }
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
        files.remove(&self.directory);
        // It is empty; an error is none of the output.
        let _ = fs::remove_dir(&self.directory);
        if is_durable {
            os::sync_directory(directory_of(&self.destination)).with_path(&self.destination)?;
        }
        Ok(())
    }
}

impl TemporaryPath {
    /// Moves the directory to the place of another file or directory, which is removed when the new one is there.
    fn replace_directory(&self) -> io::Result<()> {
        let old = self.path.with_extension("old");
        fs::rename(&self.destination, &old)?;
        if let Err(error) = fs::rename(&self.path, &self.destination) {
            fs::rename(&old, &self.destination)?;
            return Err(error);
        }
        remove(&old)
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        let mut files = temporary_files();
        if files.remove(&self.directory) {
            // The error that ends the verb is reported.
            let _ = remove(&self.directory);
        }
    }
}

/// Returns the directory of a file.
fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Waits until a file, or a directory and the files in it, survive a loss of power.
fn sync_all(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return os::sync_file(path);
    }
    for entry in fs::read_dir(path)? {
        os::sync_file(&entry?.path())?;
    }
    os::sync_directory(path)
}

/// The place of an output.
pub(crate) enum OutputPlace {
    /// A file that does not exist, or is replaced.
    File(PathBuf),
    /// A device, a pipe or a socket, which is written as it is.
    Stream(File),
}

impl OutputPlace {
    /// Returns the place of the output `path`, behind symbolic links, for the content of `input`. Something that exists is
    /// an error without `force`, and a directory and the input are always errors.
    pub(crate) fn new(path: &Path, input: &Path, force: bool) -> Result<OutputPlace, Failure> {
        check_destination(path, force)?;
        if remote::is_url(path) {
            return if path == input {
                Err(is_the_input(path))
            } else {
                Ok(OutputPlace::File(path.to_owned()))
            };
        }
        let target = follow_links(path).with_path(path)?;
        if target.canonicalize().is_ok_and(|target| input.canonicalize().is_ok_and(|input| input == target)) {
            return Err(is_the_input(path));
        }
        match target.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                Err(Failure::file(path, "is a directory, expected the name of a file"))
            }
            Ok(metadata) if !metadata.is_file() => {
                File::options().write(true).open(&target).with_path(path).map(OutputPlace::Stream)
            }
            _ => Ok(OutputPlace::File(target)),
        }
    }
}

/// Returns the path at the end of the symbolic links at `path`, at which there may be nothing.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    /// Limit for the number of links one after the other: that of Linux.
    const MAX_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !target.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(target);
        }
        let link = fs::read_link(&target)?;
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other(format!("more than {MAX_LINKS} symbolic links one after the other")))
}

fn is_the_input(path: &Path) -> Failure {
    Failure::file(path, "is the input, expected another output")
}

fn exists_already(path: &Path) -> Failure {
    Failure::file(path, "exists already; --force overwrites it")
}

/// Checks that nothing exists at `path`, unless it may be overwritten.
fn check_destination(path: &Path, force: bool) -> Result<(), Failure> {
    if !force && source::exists(path).with_path(path)? {
        return Err(exists_already(path));
    }
    Ok(())
}

/// Checks that nothing exists at `path`, for verbs that never overwrite.
pub(crate) fn check_is_new(path: &Path) -> Result<(), Failure> {
    if source::exists(path).with_path(path)? {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_which_files_are_created_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("temporary");
        fs::create_dir(&directory).unwrap();
        let file = directory.join("file");
        let creates = std::thread::spawn(move || while fs::write(&file, "content").is_ok() {});
        std::thread::sleep(std::time::Duration::from_millis(20));
        remove_temporary_directory(&directory);
        creates.join().unwrap();
        assert!(!directory.exists());
    }
}
