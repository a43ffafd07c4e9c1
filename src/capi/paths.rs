//! Removing and renaming frames on the host's file system (`abi.md` 2.10).

use super::ffi::{code, string};
use crate::io::paths;
use std::ffi::{c_char, c_int};

/// Removes the files in the directory `path`, and the directory itself if nothing is left in it.
///
/// Returns 0. -12 for NULL or an empty path, -16 where there is no directory, -1 when an entry cannot be removed,
/// such as a directory; what comes after it is left then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_remove_dir(path: *const c_char) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| paths::remove_dir(unsafe { string(path) }?).map(|()| 0))
}

/// Removes a frame: a file with the sidecar that locks it, or a directory as `blosc2_remove_dir`.
///
/// Returns 0, also for NULL and when there is nothing at `path`. -31 when a file cannot be removed, -1 when the
/// path cannot be looked at, or a code of `blosc2_remove_dir`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_remove_urlpath(path: *const c_char) -> c_int {
    code(|| {
        if path.is_null() {
            return Ok(0);
        }
        // SAFETY: by the rules of the module.
        paths::remove_urlpath(unsafe { string(path) }?).map(|()| 0)
    })
}

/// Renames the frame `old_urlpath` to `new_path`. The sidecar that locks a file is not renamed.
///
/// Returns 0, also when a path is NULL. -1 when there is nothing to rename, or it cannot be done.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_rename_urlpath(old_urlpath: *mut c_char, new_path: *mut c_char) -> c_int {
    code(|| {
        if old_urlpath.is_null() || new_path.is_null() {
            return Ok(0);
        }
        // SAFETY: by the rules of the module.
        let (old, new) = unsafe { (string(old_urlpath)?, string(new_path)?) };
        paths::rename_urlpath(old, new).map(|()| 0)
    })
}
