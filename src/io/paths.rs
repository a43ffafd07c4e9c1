//! Paths of files and directories, always of the host's file system (`frame.md` 3.3, 4.1).

use crate::error::{Result, ensure, err, os_err};
use crate::fallible;
use crate::os;
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Converts a C string to a path.
pub(crate) fn as_path(path: &CStr) -> Cow<'_, Path> {
    os::path_from_c(path)
}

/// Returns the path without a leading `file:///` (all three slashes are removed).
pub(crate) fn strip_scheme(path: &CStr) -> &CStr {
    const SCHEME: &[u8] = b"file:///";
    if path.to_bytes().starts_with(SCHEME)
        && let Ok(rest) = CStr::from_bytes_with_nul(&path.to_bytes_with_nul()[SCHEME.len()..])
    {
        return rest;
    }
    path
}

/// Returns the path without one trailing `/` or `\`.
pub(crate) fn strip_trailing_slash(path: &CStr) -> Result<CString> {
    let bytes = path.to_bytes();
    let bytes = bytes.strip_suffix(b"/").or_else(|| bytes.strip_suffix(b"\\")).unwrap_or(bytes);
    fallible::c_string(&[bytes])
}

/// Returns the path of the lock file of a frame: `<path>.b2lock`.
pub(crate) fn lock_file_path(path: &CStr) -> Result<PathBuf> {
    fallible::path(&[path.to_bytes(), b".b2lock"])
}

/// Returns a path for a temporary file beside `path`: `<path>.<process>-<number>.tmp`.
pub(crate) fn temporary_path(path: &Path) -> Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let suffix = format!(".{}-{}.tmp", os::process_id(), COUNT.fetch_add(1, Ordering::Relaxed));
    fallible::path(&[path.as_os_str().as_encoded_bytes(), suffix.as_bytes()])
}

/// The number of temporary paths that are tried.
pub(super) const TEMPORARY_NAME_ATTEMPTS: u32 = 100;

/// Returns whether the path exists, following links.
pub(crate) fn exists(path: &CStr) -> bool {
    fs::metadata(as_path(path)).is_ok()
}

/// Creates a directory with the permissions 0777 minus the umask.
///
/// # Errors
/// `FileOpen` when the path exists, or its parent does not.
pub(crate) fn create_dir(path: &CStr) -> Result<()> {
    fs::create_dir(as_path(path))
        .map_err(|error| os_err!(error, FileOpen, "cannot create the directory {path:?}: {error}"))
}

/// Removes a file or an empty directory; a missing one is no error.
pub(crate) fn remove_file(path: &CStr) -> Result<()> {
    let named = &*as_path(path);
    let removed = match fs::symlink_metadata(named) {
        Ok(found) if found.is_dir() => fs::remove_dir(named),
        _ => fs::remove_file(named),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(os_err!(error, FileRemove, "cannot remove {path:?}: {error}"))
        }
        _ => Ok(()),
    }
}

/// Removes the files of a directory, and the directory if it is empty then. Dangling links are left.
///
/// # Errors
/// `InvalidParam` for an empty path, `NotFound` when the directory cannot be listed, `Failure` at the first entry that
/// is not a file.
pub(crate) fn remove_dir(path: &CStr) -> Result<()> {
    ensure!(!path.is_empty(), InvalidParam, "the path of a directory is empty");
    let path = &*as_path(path);
    let entries = fs::read_dir(path)
        .map_err(|error| err!(NotFound, "cannot list the directory {}: {error}", path.display()))?;
    for entry in entries {
        let file = entry
            .map_err(|error| err!(Failure, "cannot list the directory {}: {error}", path.display()))?
            .path();
        if fs::metadata(&file).is_ok() {
            fs::remove_file(&file)
                .map_err(|error| err!(Failure, "cannot remove {}: {error}", file.display()))?;
        }
    }
    // A directory that is not empty is kept, without an error.
    let _ = fs::remove_dir(path);
    Ok(())
}

/// Removes a frame: a directory with its files, or a file with its lock file. A missing path is no error.
///
/// # Errors
/// `Failure` when the metadata of the path cannot be read, `FileRemove` for a file; those of [`remove_dir`].
pub(crate) fn remove_urlpath(path: &CStr) -> Result<()> {
    match fs::metadata(as_path(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(err!(Failure, "cannot read the metadata of {path:?}: {error}")),
        Ok(metadata) if metadata.is_dir() => remove_dir(path),
        Ok(_) => {
            let lock_file = lock_file_path(path)?;
            fs::remove_file(as_path(path))
                .map_err(|error| err!(FileRemove, "cannot remove {path:?}: {error}"))?;
            // Without locking there is no lock file.
            let _ = fs::remove_file(lock_file);
            Ok(())
        }
    }
}

/// Renames a frame. The lock file of a frame file keeps its old name.
///
/// # Errors
/// `Failure`.
pub(crate) fn rename_urlpath(old: &CStr, new: &CStr) -> Result<()> {
    fs::metadata(as_path(old))
        .and_then(|_| fs::rename(as_path(old), as_path(new)))
        .map_err(|error| err!(Failure, "cannot rename {old:?} to {new:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strip_scheme_removes_all_three_slashes() {
        for (path, rest) in [
            (c"file:///x", c"x"),
            (c"file:////a/x", c"/a/x"),
            (c"file:///", c""),
            (c"file://x", c"file://x"),
            (c"FILE:///x", c"FILE:///x"),
            (c"a/file:///x", c"a/file:///x"),
            (c"", c""),
        ] {
            assert_eq!(strip_scheme(path), rest);
        }
    }

    #[test]
    fn strip_trailing_slash_removes_one_slash() {
        for (path, rest) in
            [(c"a/", c"a"), (c"a\\", c"a"), (c"a//", c"a/"), (c"a", c"a"), (c"/", c""), (c"", c"")]
        {
            assert_eq!(strip_trailing_slash(path).unwrap().as_c_str(), rest);
        }
    }

    #[test]
    fn lock_file_path_appends_b2lock() {
        assert_eq!(lock_file_path(c"d/f").unwrap(), Path::new("d/f.b2lock"));
    }
}
