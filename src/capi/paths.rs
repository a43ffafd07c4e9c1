//! Removing and renaming frames in the host's file system (`abi.md` 2.10).

use super::ffi::result_code;
use super::pointers::{CText, Pointer};
use crate::error::Result;
use crate::io::paths;
use std::ffi::{CStr, c_char, c_int};

/// Returns the path without a leading `file:///`.
fn path_of_url<'call>(url: &CText<'call, impl Pointer<Target = c_char>>) -> Result<&'call CStr> {
    Ok(paths::strip_scheme(url.get()?))
}

/// Removes the files in the directory `path`, and then the directory itself if it is empty. Subdirectories are not
/// removed. A leading `file:///` of the path is left out.
///
/// Returns 0. Errors: -12 for NULL or an empty path, -16 when the directory cannot be opened, -1 at the first
/// entry that cannot be removed, such as a subdirectory; the entries after it are not removed then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_remove_dir(path: CText<*const c_char>) -> c_int {
    result_code(|| paths::remove_dir(path_of_url(&path)?).map(|()| 0))
}

/// Removes the frame at `path`: a file together with its lock file (`<path>.b2lock`), or a directory as
/// `blosc2_remove_dir`. A leading `file:///` of the path is left out.
///
/// Returns 0, also for NULL and when nothing exists at `path`. Errors: -31 when a file cannot be removed, -1 when
/// the path cannot be examined, or a code of `blosc2_remove_dir`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_remove_urlpath(path: CText<*const c_char>) -> c_int {
    result_code(|| {
        if path.is_null() {
            return Ok(0);
        }
        paths::remove_urlpath(path_of_url(&path)?).map(|()| 0)
    })
}

/// Renames the frame `old_urlpath`, a file or a directory, to `new_path`. The lock file of a file
/// (`<path>.b2lock`) is not renamed. A leading `file:///` of a path is left out.
///
/// Returns 0, also when a path is NULL. Returns -1 when nothing exists at `old_urlpath` or it cannot be renamed.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_rename_urlpath(
    old_urlpath: CText<*mut c_char>,
    new_path: CText<*mut c_char>,
) -> c_int {
    result_code(|| {
        if old_urlpath.is_null() || new_path.is_null() {
            return Ok(0);
        }
        paths::rename_urlpath(path_of_url(&old_urlpath)?, path_of_url(&new_path)?).map(|()| 0)
    })
}
