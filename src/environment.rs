//! Reads environment variables as C programs set them: at every use, without caching (`abi.md` 10).

use crate::os;
use std::ffi::{CStr, CString};

/// Returns a copy of the value of a variable; `None` if it is not set.
pub(crate) fn var(name: &CStr) -> Option<CString> {
    // SAFETY: `name` is a C string; the result is copied before anything else can run on this thread. A program
    // that calls `setenv` on another thread at the same time races with every library, by POSIX.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: `getenv` returns NULL or a C string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_owned())
}

/// Returns whether a variable may be set whose name begins with `prefix`: one pass over the environment, where each
/// [`var`] takes one. Always true except on Linux.
pub(crate) fn may_have(prefix: &[u8]) -> bool {
    os::environment_may_have(prefix)
}

/// Returns whether a variable is set, to any value, also an empty one.
pub(crate) fn is_set(name: &CStr) -> bool {
    // SAFETY: `name` is a C string.
    !unsafe { libc::getenv(name.as_ptr()) }.is_null()
}

/// Returns the value of a variable as a number, by the rules of `strtol`: text that is no number gives 0.
pub(crate) fn var_as_i64(name: &CStr) -> Option<i64> {
    let text = var(name)?;
    // SAFETY: `text` is a C string, and `strtol` accepts NULL for the end pointer.
    let value = unsafe { libc::strtol(text.as_ptr(), std::ptr::null_mut(), 10) };
    #[allow(clippy::useless_conversion, reason = "`long` has 32 bits on some systems")]
    Some(i64::from(value))
}

/// Returns the low 32 bits of [`var_as_i64`], as the reference does.
pub(crate) fn var_as_i32(name: &CStr) -> Option<i32> {
    var_as_i64(name).map(|n| n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_names_are_found() {
        assert!(may_have(b"PATH="));
        assert!(may_have(b"PAT"));
        assert!(!cfg!(target_os = "linux") || !may_have(b"NO SUCH NAME"));
    }
}
