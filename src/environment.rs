//! Reading environment variables as C programs set them: at every use, without caching (`abi.md` 10).

use std::ffi::{CStr, CString};

/// The value of a variable, copied; `None` if it is not set.
pub(crate) fn var(name: &CStr) -> Option<CString> {
    // SAFETY: `name` is a C string; the result is copied before anything else can run on this thread. A program
    // that calls `setenv` on another thread at the same time races with every library, by POSIX.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: `getenv` returns NULL or a C string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_owned())
}

/// Whether a variable is set, to whatever value, empty included.
pub(crate) fn is_set(name: &CStr) -> bool {
    // SAFETY: `name` is a C string.
    !unsafe { libc::getenv(name.as_ptr()) }.is_null()
}

/// The value of a variable as a number, by the rules of `strtol`: what is no number is 0.
pub(crate) fn number(name: &CStr) -> Option<i64> {
    let text = var(name)?;
    // SAFETY: `text` is a C string, and no end pointer is asked for.
    Some(unsafe { libc::strtol(text.as_ptr(), std::ptr::null_mut(), 10) })
}

/// The low 32 bits of [`number`], as the reference keeps them.
pub(crate) fn number_i32(name: &CStr) -> Option<i32> {
    number(name).map(|n| n as i32)
}
