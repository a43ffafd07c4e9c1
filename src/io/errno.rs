//! The C library's `errno`, for callbacks that report through it.

use std::ffi::c_int;

/// Sets `errno` of this thread to 0, so that what a callback leaves there is its own.
pub(super) fn clear() {
    // SAFETY: the C library's place for this thread's `errno`, valid for as long as the thread lives.
    unsafe { *place() = 0 };
}

/// Whether `errno` of this thread says that there is no such file.
pub(super) fn is_not_found() -> bool {
    // SAFETY: as in `clear`.
    unsafe { *place() == libc::ENOENT }
}

/// Leaves in `errno` of this thread that there is no such file, as a back-end does.
#[cfg(test)]
pub(super) fn set_not_found() {
    // SAFETY: as in `clear`.
    unsafe { *place() = libc::ENOENT };
}

fn place() -> *mut c_int {
    #[cfg(any(target_os = "macos", target_os = "ios", target_os = "freebsd"))]
    // SAFETY: no arguments; returns a valid pointer.
    unsafe {
        libc::__error()
    }
    #[cfg(not(any(target_os = "macos", target_os = "ios", target_os = "freebsd")))]
    // SAFETY: no arguments; returns a valid pointer.
    unsafe {
        libc::__errno_location()
    }
}
