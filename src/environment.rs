//! Reads environment variables as C programs set them: at every use, without caching (`abi.md` 10).

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
    #[cfg(target_os = "linux")]
    {
        use std::ffi::c_char;
        unsafe extern "C" {
            static mut environ: *const *const c_char;
        }
        // SAFETY: the C library's array, NULL or ended by NULL, of C strings. `setenv` on another thread races, as for
        // `var`. No byte behind the NUL of a string is read: `starts` ends at the first difference.
        unsafe {
            let starts = |variable: *const c_char| {
                prefix.iter().enumerate().all(|(at, &byte)| *variable.cast::<u8>().add(at) == byte)
            };
            let mut next = environ;
            while !next.is_null() && !(*next).is_null() {
                if starts(*next) {
                    return true;
                }
                next = next.add(1);
            }
        }
        false
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = prefix;
        true
    }
}

/// Returns whether a variable is set, to any value, also an empty one.
pub(crate) fn is_set(name: &CStr) -> bool {
    // SAFETY: `name` is a C string.
    !unsafe { libc::getenv(name.as_ptr()) }.is_null()
}

/// Returns the value of a variable as a number, by the rules of `strtol`: text that is no number gives 0.
#[allow(clippy::unnecessary_cast, reason = "the width of `long` differs from system to system")]
pub(crate) fn var_as_i64(name: &CStr) -> Option<i64> {
    let text = var(name)?;
    // SAFETY: `text` is a C string, and `strtol` accepts NULL for the end pointer.
    Some(unsafe { libc::strtol(text.as_ptr(), std::ptr::null_mut(), 10) } as i64)
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
        #[cfg(target_os = "linux")]
        assert!(!may_have(b"NO SUCH NAME"));
    }
}
