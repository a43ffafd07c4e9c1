//! Replacing the contents of a plain file as a whole: the new contents are written to a temporary file in the same
//! directory, which is then renamed. Another process, and a reader after a crash, finds the old or the new contents.

use super::{OpenMode, native, paths};
use crate::err;
use crate::error::Result;
use crate::trace;
use std::ffi::CStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
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
/// # Errors
/// `FileOpen`, `FileWrite`.
pub(super) fn write_whole_file(path: &CStr, bytes: &[u8]) -> Result<()> {
    // A link stays a link: the file that it names is replaced.
    let named = paths::as_path(path);
    let target = fs::canonicalize(named).unwrap_or_else(|_| named.to_owned());
    let old = fs::metadata(&target).ok();
    let Some((file, temporary)) = create_temporary(&target) else { return overwrite(path, bytes) };
    let is_replaceable = old.as_ref().is_none_or(|old| is_replaceable_by(old, &file));
    let replaced = if is_replaceable {
        native::write_at(&file, 0, bytes).and_then(|()| take_place(&file, &temporary, &target, old))
    } else {
        Ok(())
    };
    if (!is_replaceable || replaced.is_err())
        && let Err(error) = fs::remove_file(&temporary)
    {
        trace::warning(|| format!("the temporary file {} stays: {error}", temporary.display()));
    }
    if is_replaceable { replaced } else { overwrite(path, bytes) }
}

/// Truncates the file and writes it.
fn overwrite(path: &CStr, bytes: &[u8]) -> Result<()> {
    native::write_at(&native::open(path, OpenMode::Create)?, 0, bytes)
}

/// Returns whether `new` differs from the file `old` in its contents only once it has its permissions.
fn is_replaceable_by(old: &Metadata, new: &File) -> bool {
    old.is_file()
        && old.nlink() == 1
        && new.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()))
}

/// Creates a file beside `target`, and returns it with its path; `None` if none can be created there.
fn create_temporary(target: &Path) -> Option<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..NAME_ATTEMPTS {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = target.file_name()?.to_owned();
        name.push(format!(".{}-{count}.tmp", std::process::id()));
        let path = target.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Some((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return None,
        }
    }
    None
}

/// Gives the file at `temporary` the permissions of the old one, and renames it to `target`.
fn take_place(file: &File, temporary: &Path, target: &Path, old: Option<Metadata>) -> Result<()> {
    if let Some(old) = old {
        file.set_permissions(old.permissions()).map_err(|error| {
            err!(FileWrite, "cannot set the permissions of {}: {error}", temporary.display())
        })?;
    }
    fs::rename(temporary, target).map_err(|error| {
        err!(FileWrite, "cannot rename {} to {}: {error}", temporary.display(), target.display())
    })
}
